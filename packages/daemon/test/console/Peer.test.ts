import { assert, describe, it } from "@effect/vitest"
import type * as Access from "@headwater/daemon/console/Access"
import * as Peer from "@headwater/daemon/console/Peer"
import * as Option from "effect/Option"

const request = (peer: string | undefined, named?: string) =>
  ({
    remoteAddress: Option.fromUndefinedOr(peer),
    headers: named === undefined ? {} : { "x-forwarded-for": named }
  }) as unknown as Access.Request

describe("Peer", () => {
  it("counts guesses by the address, and takes a proxy's word for it of a near peer alone", () => {
    for (const [peer, named, line] of [
      ["8.8.8.8", undefined, "8.8.8.8"],
      ["::ffff:8.8.8.8", undefined, "8.8.8.8"],
      ["8.8.8.8", "1.1.1.1", "8.8.8.8"],
      ["2606:4700:1:2:3::4", "1.1.1.1", "2606:4700:1:2::/64"],
      ["2606:4700:1:2:ffff::5", undefined, "2606:4700:1:2::/64"],
      ["127.0.0.1", "1.1.1.1", "1.1.1.1"],
      ["::ffff:10.0.0.1", "9.9.9.9, 2606:4700:1:2::9", "2606:4700:1:2::/64"],
      ["fe80::1%eth0", "1.1.1.1", "1.1.1.1"],
      ["::1", "no address", "::/64"],
      ["192.168.0.1", undefined, "192.168.0.1"],
      [undefined, undefined, "unknown"]
    ] as const) {
      assert.strictEqual(Peer.lineBehind(request(peer, named)), line, `${peer}, ${named}`)
    }
  })

  it("tells the audit log of both", () => {
    assert.strictEqual(Peer.describe(request("8.8.8.8", "9.9.9.9, 1.1.1.1")), "1.1.1.1 by way of 8.8.8.8")
    assert.strictEqual(Peer.describe(request("8.8.8.8", " ")), "8.8.8.8")
  })
})
