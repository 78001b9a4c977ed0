/**
 * Certificates for receivers on the developer's own machine: a new authority, and a server certificate
 * signed by the authority. Neither is written to disk, and only a program that is given the authority trusts it.
 */
import "reflect-metadata" // @peculiar/x509 does not load without it
import { isIP } from "node:net"
import * as x509 from "@peculiar/x509"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** PEM texts. */
export interface DevelopmentCertificate {
  /** The authority, for the client's list of trusted ones. */
  readonly ca: string
  /** The server's certificate. */
  readonly cert: string
  /** The server's private key. */
  readonly key: string
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
const day = 86_400_000

const generate = async (hosts: ReadonlyArray<string>, now: number): Promise<DevelopmentCertificate> => {
  const validity = { notBefore: new Date(now - day), notAfter: new Date(now + 30 * day) }
  const authorityKeys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: "CN=Headwater development authority",
    keys: authorityKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey)
    ]
  })
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    subject: "CN=Headwater development receiver",
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host }))
      ),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey)
    ]
  })
  const key = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64")
  return {
    ca: authority.toString("pem"),
    cert: certificate.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${key.replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----\n`
  }
}

/** Makes an authority and a certificate for `hosts` (DNS names or IP addresses), valid for 30 days. */
export const make = (hosts: ReadonlyArray<string>): Effect.Effect<DevelopmentCertificate> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.promise(() => generate(hosts, now)))
