/**
 * JSON as bytes (RFC 8259). `scan` accepts what is JSON, and finds the results of an answer of JSON-RPC on the way; the other
 * functions read what has been accepted, and check no syntax again.
 */

const quote: u8 = 0x22
const backslash: u8 = 0x5c

// An object or an array that has not ended, each a byte, and what the document has been read to.
const maxDepth = 4096
const levels = memory.data(maxDepth)
let depth = 0
let at: usize = 0
let end: usize = 0
/** A value comes next, or what follows one. */
let wantsValue = true

// Answers: for each its id, and from where to where its result is.
const maxAnswers = 128
const answerBytes: usize = 12
const answers = memory.data(1536)
let count = 0
/** Levels above the members of an answer: two in a batch. */
let envelope = 0
let member = 0
let valueFrom: usize = 0
let hasId = false
let hasResult = false

const noMember = 0
const idMember = 1
const resultMember = 2
const errorMember = 3

export function answerCount(): i32 {
  return count
}

export function answerAt(index: i32): usize {
  return answers + <usize>index * answerBytes
}

function isBlank(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}

/** Passes blanks. */
export function blanks(from: usize): usize {
  let next = from
  while (isBlank(load<u8>(next))) next++
  return next
}

function isDigit(byte: u8): bool {
  return <u32>byte - 0x30 < 10
}

function isHexDigit(byte: u8): bool {
  return isDigit(byte) || <u32>(byte | 0x20) - 0x61 < 6
}

/** Behind the escape that begins at `from`; 0 where it is none. */
function scanEscape(from: usize): usize {
  const byte = load<u8>(from + 1)
  if (byte == 0x75) {
    for (let digit: usize = 2; digit < 6; digit++) if (!isHexDigit(load<u8>(from + digit))) return 0
    return from + 6
  }
  const isKnown =
    byte == quote ||
    byte == backslash ||
    byte == 0x2f ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74
  return isKnown ? from + 2 : 0
}

/** Behind the string that begins at `from`; 0 where it is none. */
function scanString(from: usize): usize {
  let next = from + 1
  while (next != 0) {
    const bytes = v128.load(next)
    const special = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(quote)), i8x16.eq(bytes, i8x16.splat(backslash))),
      i8x16.lt_u(bytes, i8x16.splat(0x20))
    )
    const found = i8x16.bitmask(special)
    if (found == 0) {
      next += 16
      continue
    }
    next += ctz(found)
    const byte = load<u8>(next)
    if (byte == quote) return next + 1
    next = byte == backslash ? scanEscape(next) : 0
  }
  return 0
}

function digitsFrom(from: usize): usize {
  let next = from
  while (isDigit(load<u8>(next))) next++
  return next
}

/** Behind the number, true, false or null that begins at `from`; 0 where it is none. */
function scanPlain(from: usize): usize {
  const word = load<u32>(from)
  if (word == 0x6c6c756e || word == 0x65757274) return from + 4
  if (word == 0x736c6166 && load<u8>(from + 4) == 0x65) return from + 5
  let next = load<u8>(from) == 0x2d ? from + 1 : from
  const whole = digitsFrom(next)
  if (whole == next || (load<u8>(next) == 0x30 && whole > next + 1)) return 0
  next = whole
  if (load<u8>(next) == 0x2e) {
    const fraction = digitsFrom(next + 1)
    if (fraction == next + 1) return 0
    next = fraction
  }
  if ((load<u8>(next) | 0x20) == 0x65) {
    const sign = load<u8>(next + 1)
    const digits = sign == 0x2b || sign == 0x2d ? next + 2 : next + 1
    next = digitsFrom(digits)
    if (next == digits) return 0
  }
  return next
}

/** What a name between `from` and its closing quote means in an answer; -1 where an escape hides that. */
function memberOf(from: usize, to: usize): i32 {
  for (let each = from; each < to; each++) if (load<u8>(each) == backslash) return -1
  const length = to - from
  if (length == 2 && load<u16>(from) == 0x6469) return idMember
  if (length == 5 && load<u32>(from) == 0x6f727265 && load<u8>(from + 4) == 0x72) return errorMember
  if (length == 6 && load<u32>(from) == 0x75736572 && load<u16>(from + 4) == 0x746c) return resultMember
  return noMember
}

/** Passes a name and its colon; false where there is none. */
function passName(): bool {
  at = blanks(at)
  if (load<u8>(at) != quote) return false
  const from = at + 1
  at = scanString(at)
  if (at == 0) return false
  if (depth == envelope) {
    member = memberOf(from, at - 1)
    if (member < 0) return false
  }
  at = blanks(at)
  if (load<u8>(at) != 0x3a) return false
  at = blanks(at + 1)
  if (depth == envelope) valueFrom = at
  return true
}

/** Takes the member of an answer that ends here; false where it is not one of an answer with a result. */
function takeMember(): bool {
  const answer = answerAt(count)
  if (member == resultMember) {
    if (hasResult) return false
    hasResult = true
    store<u32>(answer, <u32>valueFrom, 4)
    store<u32>(answer, <u32>at, 8)
  } else if (member == idMember) {
    const digits = at - valueFrom
    if (hasId || digits > 9 || digitsFrom(valueFrom) != at) return false
    hasId = true
    let id: u32 = 0
    for (let each = valueFrom; each < at; each++) id = id * 10 + (load<u8>(each) - 0x30)
    store<u32>(answer, id)
  } else if (member == errorMember) {
    return load<u32>(valueFrom) == 0x6c6c756e
  }
  return true
}

/** Ends an answer; false where it has no id or no result. */
function takeAnswer(): bool {
  if (!hasId || !hasResult) return false
  hasId = false
  hasResult = false
  return ++count < maxAnswers
}

/** Begins with the document between `from` and `to`, which must be followed by 64 bytes of zeros. */
export function scanFrom(from: usize, to: usize): void {
  at = blanks(from)
  end = to
  depth = 0
  count = 0
  wantsValue = true
  hasId = false
  hasResult = false
  envelope = load<u8>(at) == 0x5b ? 2 : 1
}

export const refused = 0
export const goesOn = 1
export const done = 2

/** Goes on with the document up to a value behind `stop`. Refuses what is no JSON, or not one answer or more with a result. */
export function scan(stop: usize): i32 {
  while (at < stop) {
    if (wantsValue) {
      const byte = load<u8>(at)
      if (byte == 0x7b || byte == 0x5b) {
        // An answer is an object; only a batch stands above one.
        if (depth == maxDepth || (depth < envelope && (byte == 0x5b) != depth + 1 < envelope)) return refused
        store<u8>(levels + depth, byte)
        depth++
        at = blanks(at + 1)
        // The brackets differ by two.
        if (load<u8>(at) == byte + 2) wantsValue = false
        else if (byte == 0x7b && !passName()) return refused
        continue
      }
      if (depth < envelope) return refused
      at = byte == quote ? scanString(at) : scanPlain(at)
      if (at == 0) return refused
      wantsValue = false
      if (depth == envelope && !takeMember()) return refused
    }
    at = blanks(at)
    const byte = load<u8>(at)
    const open = load<u8>(levels + depth - 1)
    if (byte == 0x2c) {
      at++
      if (open == 0x7b) {
        if (!passName()) return refused
      } else at = blanks(at)
      wantsValue = true
      continue
    }
    if (byte != open + 2) return refused
    at++
    depth--
    if (depth + 1 == envelope && !takeAnswer()) return refused
    if (depth == envelope && !takeMember()) return refused
    if (depth == 0) return at <= end && blanks(at) == end ? done : refused
  }
  return at >= end ? refused : goesOn
}

// Of what has been accepted.

/** What is read in one step is for others where it takes more bytes: everything else would wait for too long. */
export const maxItem: usize = 2 << 20

/** At the first quote or backslash behind `from`. */
export function special(from: usize): usize {
  let next = from + 1
  let found = 0
  while (found == 0) {
    const bytes = v128.load(next)
    found = i8x16.bitmask(v128.or(i8x16.eq(bytes, i8x16.splat(quote)), i8x16.eq(bytes, i8x16.splat(backslash))))
    next += found == 0 ? 16 : <usize>ctz(found)
  }
  return next
}

/** At the closing quote of the string that begins at `from`. */
export function closing(from: usize): usize {
  let next = special(from)
  while (load<u8>(next) == backslash) next = special(next + 1)
  return next
}

/** Behind the object or array that begins at `from`. */
function skipNested(from: usize): usize {
  let next = from
  let open = 0
  do {
    const byte = load<u8>(next)
    if (byte == quote) next = closing(next)
    else if (byte == 0x7b || byte == 0x5b) open++
    else if (byte == 0x7d || byte == 0x5d) open--
    next++
  } while (open > 0)
  return next
}

/** Behind the value that begins at `from`. */
export function skip(from: usize): usize {
  let byte = load<u8>(from)
  if (byte == quote) return closing(from) + 1
  if (byte == 0x7b || byte == 0x5b) return skipNested(from)
  let next = from
  while (byte != 0x2c && byte != 0x7d && byte != 0x5d && byte > 0x20) byte = load<u8>(++next)
  return next
}

/** The first child of the object or array that begins at `from`; 0 where there is none, and `ended` is behind it. */
export function enter(from: usize): usize {
  const next = blanks(from + 1)
  const byte = load<u8>(next)
  if (byte != 0x7d && byte != 0x5d) return next
  ended = next + 1
  return 0
}

/** The child behind the one that ends at `from`; as `enter` of the last one. */
export function following(from: usize): usize {
  const next = blanks(from)
  if (load<u8>(next) == 0x2c) return blanks(next + 1)
  ended = next + 1
  return 0
}

export let ended: usize = 0

export function isNull(from: usize): bool {
  return load<u32>(from) == 0x6c6c756e
}
