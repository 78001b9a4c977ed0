/** A new subscription on an extended public key is compared with those that the account has on it. */
export const up = (): ReadonlyArray<string> => ["create index extended_key_public_key on extended_key (public_key)"]
