/** The cookies of the console: one carries a session, one marks a browser that once had a user's password. */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Access from "./Access.ts"

const session = "headwater_console"
/** Stays in the browser, and opens nothing: others' wrong guesses are not counted against a browser that has it. */
const browser = "headwater_browser"
const browserLasts = "365 days"

/** `HttpOnly`: no script reads the cookie. `SameSite=Strict`: no other site's page sends the cookie. */
const optionsOf = (request: Access.Request) =>
  ({
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    // The console speaks HTTP; a proxy in front of the console that speaks HTTPS says so.
    secure: request.headers["x-forwarded-proto"] === "https"
  }) as const

export const sessionOf = (request: Access.Request) => request.cookies[session]
export const browserOf = (request: Access.Request) => request.cookies[browser]

export const setSession = (request: Access.Request, answer: Access.Response, token: string) =>
  HttpServerResponse.setCookieUnsafe(answer, session, token, optionsOf(request))

export const endSession = (request: Access.Request, answer: Access.Response) =>
  HttpServerResponse.expireCookieUnsafe(answer, session, optionsOf(request))

export const setBrowser = (request: Access.Request, answer: Access.Response, proof: string) =>
  HttpServerResponse.setCookieUnsafe(answer, browser, proof, { ...optionsOf(request), maxAge: browserLasts })
