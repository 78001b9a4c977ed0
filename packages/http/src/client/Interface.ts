/** Written by `ClientInterface.ts` from the OpenAPI document. */
export interface components {
  schemas: {
    readonly ErrorDetail: {
      /**
       * @description The field that is wrong
       * @example callbackUrl
       */
      readonly attribute: string
      /**
       * @description The rule that the field breaks
       * @example must begin with https://
       */
      readonly message: string
    }
    readonly AccountLimits: {
      /** @description Subscriptions of the account, over all chains */
      readonly subscriptions: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Subscriptions of the account to one event of one address, of one transaction, or of a chain's blocks, wherever they are sent */
      readonly duplicates: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
      }
      /** @description Callbacks of the account that wait for their receivers, counted up to the maximum: beyond it what happens at addresses with many subscriptions is kept, and told when they are fewer */
      readonly waitingCallbacks: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Callbacks of one subscription that wait for the verification of their host: beyond it the oldest expire */
      readonly heldCallbacks: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
      }
      /** @description Hosts of callbacks that the account has added */
      readonly domains: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Verifications of domains in the present hour of the clock */
      readonly verificationsAnHour: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description HD wallets that the account has synced, over all chains */
      readonly wallets: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Single addresses that the account has synced, over all chains */
      readonly addresses: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Addresses in the lists of the account's subscriptions, over all chains */
      readonly listedAddresses: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Requests of the account for many subscriptions in the last seven days */
      readonly bulkRequests: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Subscriptions whose callbacks are being sent to another URL */
      readonly callbackCopies: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
      /** @description Calls of a chain's node for one request, as for the assets of a wallet */
      readonly nodeCalls: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
      }
      /** @description Readers of the account's feed that stay connected to one daemon, by server-sent events or WebSocket */
      readonly streams: {
        /**
         * @description The most that is allowed
         * @example 10000
         */
        readonly maximum: number
        /**
         * @description What the account has of it
         * @example 12
         */
        readonly used: number
      }
    }
    readonly CreditEntry: {
      /**
       * @description Names the cause of the entry; no two entries have the same
       * @example request:6f1b0a4c9d3e57812fa06b3c
       */
      readonly key: string
      /**
       * @example request
       * @enum {string}
       */
      readonly kind: "grant" | "request" | "daily" | "callback"
      /**
       * @description Credits, negative for a charge
       * @example -30
       */
      readonly amount: number
      /**
       * @description Results, subscriptions or callbacks that the entry pays for
       * @example 1
       */
      readonly results: number
      /**
       * @description The operation, or the chain and day
       * @example subscriptions.get
       */
      readonly detail: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
    }
    readonly CreditBalance: {
      /**
       * @description Credits left
       * @example 985420
       */
      readonly available: number
    }
    readonly ExchangeRate: {
      /**
       * @description When the older one of the two rates was true
       * @example 1764158400
       */
      readonly calculationTimestamp: number
      /** @example 5b1ea92e584bf50020130615 */
      readonly fromAssetId: string
      /** @example BTC */
      readonly fromAssetSymbol: string
      /**
       * @description Units of the second asset for one of the first, by the rates of both in US dollars
       * @example 64250.12
       */
      readonly rate: string
      /** @example 5b1ea92e584bf50020130615 */
      readonly toAssetId: string
      /** @example USD */
      readonly toAssetSymbol: string
    }
    readonly SupportedAsset: {
      /** @example Tether */
      readonly name: string
      /** @example USDT */
      readonly originalSymbol: string
      /** @example 5b1ea92e584bf50020130615 */
      readonly referenceId: string
      /** @example USDT */
      readonly symbol: string
      /** @enum {string} */
      readonly type: "crypto" | "fiat"
    }
    readonly ListedAsset: {
      /** @enum {string} */
      readonly assetType: "crypto" | "fiat"
      /**
       * @description COIN or TOKEN
       * @example TOKEN
       */
      readonly type: string
      /** @example Tether */
      readonly name: string
      /** @example USDT */
      readonly originalSymbol: string
      /** @example 5b1ea92e584bf50020130615 */
      readonly referenceId: string
      /** @example tether */
      readonly slug: string
      /** @example USDT */
      readonly symbol: string
      readonly latestRate?: {
        /** @example 0.9998 */
        readonly amount: string
        /** @example USD */
        readonly unit: string
        /**
         * @description Seconds since the Unix epoch
         * @example 1764158400
         */
        readonly calculationTimestamp?: number
      }
    }
    readonly Asset: {
      readonly contracts: readonly {
        readonly blockchain: string
        readonly network: string
        /** @example 0xdAC17F958D2ee523a2206206994597C13D831ec7 */
        readonly identifier: string
        /** @example ERC-20 */
        readonly standard: string
        readonly fungibleValues?: {
          /** @example 6 */
          readonly decimals?: number
        }
      }[]
      readonly latestRate: {
        /** @example 0.9998 */
        readonly amount: string
        /** @example USD */
        readonly unit: string
        /**
         * @description Seconds since the Unix epoch
         * @example 1764158400
         */
        readonly calculationTimestamp?: number
      }
      readonly logo: {
        /** @example base64 */
        readonly encoding: string
        /** @example PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4= */
        readonly imageData: string
        /** @example image/svg+xml */
        readonly mimeType: string
      }
      /** @example Tether */
      readonly name: string
      /** @example USDT */
      readonly originalSymbol: string
      /** @example 5b1ea92e584bf50020130615 */
      readonly referenceId: string
      /** @example tether */
      readonly slug?: string
      /** @example USDT */
      readonly symbol: string
      /** @enum {string} */
      readonly type: "crypto" | "fiat"
      readonly specificData: {
        /** @example 0.01 */
        readonly "1HourPriceChangeInPercentage": string
        /** @example -0.02 */
        readonly "1WeekPriceChangeInPercentage": string
        /** @example 0.03 */
        readonly "24HoursPriceChangeInPercentage": string
        /** @example 61250000000 */
        readonly "24HoursTradingVolume": string
        /** @example 119500000000 */
        readonly circulatingSupply: string
        /** @example 119476100000 */
        readonly marketCapInUSD: string
        /** @example 119500000000 */
        readonly maxSupply: string
        /** @example TOKEN */
        readonly type: string
      }
    }
    readonly AssetBySymbol: {
      readonly contracts: readonly {
        readonly blockchain: string
        readonly network: string
        /** @example 0xdAC17F958D2ee523a2206206994597C13D831ec7 */
        readonly identifier: string
        /** @example ERC-20 */
        readonly standard: string
        readonly fungibleValues?: {
          /** @example 6 */
          readonly decimals?: number
        }
      }[]
      readonly latestRate: {
        /** @example 0.9998 */
        readonly amount: string
        /** @example USD */
        readonly unit: string
        /**
         * @description Seconds since the Unix epoch
         * @example 1764158400
         */
        readonly calculationTimestamp?: number
      }
      readonly logo: {
        /** @example base64 */
        readonly encoding: string
        /** @example PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4= */
        readonly imageData: string
        /** @example image/svg+xml */
        readonly mimeType: string
      }
      /** @example Tether */
      readonly name: string
      /** @example USDT */
      readonly originalSymbol: string
      /** @example 5b1ea92e584bf50020130615 */
      readonly referenceId: string
      /** @example tether */
      readonly slug?: string
      /** @example USDT */
      readonly symbol: string
      /** @enum {string} */
      readonly type: "crypto" | "fiat"
      readonly specificData: {
        /** @example 0.01 */
        readonly "1HourPriceChangeInPercentage": string
        /** @example -0.02 */
        readonly "1WeekPriceChangeInPercentage": string
        /** @example 0.03 */
        readonly "24HoursPriceChangeInPercentage": string
        /** @example 61250000000 */
        readonly "24HoursTradingVolume": string
        /** @example 119500000000 */
        readonly circulatingSupply: string
        /** @example 119476100000 */
        readonly marketCapInUSD: string
        /** @example 119500000000 */
        readonly maxSupply: string
        /**
         * @description coin or token
         * @example token
         */
        readonly type: string
      }
    }
    readonly DecodedUtxoTransaction: {
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly id: string
      /**
       * @description Bytes
       * @example 222
       */
      readonly size: number
      /**
       * @description Of all bytes, the witness too; on zcash the id
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly hash: string
      readonly inputs: readonly {
        /**
         * @description Of the coin that is spent, where the input shows it
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly address?: string
        /** @example 0 */
        readonly outputIndex: number
        readonly script: {
          /** @example 0 751e76e8199196d454941c45d1b3a323f1433bd6 */
          readonly asm: string
          /** @example 0014751e76e8199196d454941c45d1b3a323f1433bd6 */
          readonly hex: string
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        /** @example 4294967293 */
        readonly sequence: number
        /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
        readonly transactionId: string
        readonly witnesses?: readonly string[]
      }[]
      /** @example 0 */
      readonly locktime: number
      readonly outputs: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address?: string
        readonly script: {
          /** @example 0 751e76e8199196d454941c45d1b3a323f1433bd6 */
          readonly asm: string
          /** @example 0014751e76e8199196d454941c45d1b3a323f1433bd6 */
          readonly hex: string
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        readonly value?: components["schemas"]["Amount"]
      }[]
      /** @example 2 */
      readonly version: number
      /**
       * @description A quarter of the weight, rounded up
       * @example 141
       */
      readonly vsize: number
      /**
       * @description BIP-141; without the part in MWEB
       * @example 561
       */
      readonly weight: number
      /** @description On zcash: how many shielded parts there are, whose amounts and addresses nobody can see */
      readonly shielded?: {
        /**
         * @description Of Sprout
         * @example 0
         */
        readonly joinSplits: number
        /**
         * @description Of Sapling
         * @example 0
         */
        readonly spends: number
        /**
         * @description Of Sapling
         * @example 0
         */
        readonly outputs: number
        /**
         * @description Of Orchard and Ironwood
         * @example 0
         */
        readonly actions: number
      }
      /** @description On litecoin: how much of it is in MWEB, whose amounts and addresses nobody can see */
      readonly mweb?: {
        /**
         * @description In MWEB
         * @example 0
         */
        readonly inputs: number
        /**
         * @description In MWEB
         * @example 0
         */
        readonly outputs: number
        /**
         * @description In MWEB
         * @example 0
         */
        readonly kernels: number
        /** @description What comes out of MWEB */
        readonly pegOuts: readonly {
          /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
          readonly address?: string
          readonly script: {
            /** @example 0 751e76e8199196d454941c45d1b3a323f1433bd6 */
            readonly asm: string
            /** @example 0014751e76e8199196d454941c45d1b3a323f1433bd6 */
            readonly hex: string
            /** @example witness_v0_keyhash */
            readonly type: string
          }
          readonly value?: components["schemas"]["Amount"]
        }[]
      }
    }
    readonly DecodedEvmTransaction: {
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly id: string
      /**
       * @description On tron: points of bandwidth
       * @example 21000
       */
      readonly gasLimit: number
      /**
       * @description Gas for the bytes of the input data (EIP-2028)
       * @example 0
       */
      readonly gasPaidForData: number
      /**
       * @description On tron: the call of a contract, else the memo
       * @example 0x
       */
      readonly inputData: string
      /** @example 7 */
      readonly nonce: number
      /**
       * @description Empty where there is no signature, as `s`
       * @example 0x
       */
      readonly r: string
      /**
       * @description Empty where the transaction creates a contract
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x */
      readonly s: string
      /**
       * @description By the signature; empty where there is none. On tron whom the transaction names
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly sender: string
      /**
       * @description Of EIP-2718; 0 is a legacy transaction. On tron the number of the contract's type
       * @example 2
       */
      readonly type: number
      /**
       * @description A decimal number: of a legacy transaction as signed, else the parity
       * @example 0
       */
      readonly v: string
      readonly fee: {
        /**
         * @description If all of the gas is taken, at the highest price that the transaction allows; on tron the most that it may burn for energy
         * @example 0.000651
         */
        readonly approximateAmount: string
        /**
         * @description For the gas that the transaction takes at the least; on tron 0: what an account has for free may do
         * @example 0.000651
         */
        readonly approximateMinimumRequiredAmount: string
        /** @example ETH */
        readonly unit: string
        /**
         * @description As `approximateAmount`
         * @example 0.000651
         */
        readonly aproximateAmount: string
      }
      /** @description The highest price of a unit of gas; on tron 0: the chain sets its prices */
      readonly gasPrice: components["schemas"]["Amount"]
      readonly value: components["schemas"]["Amount"]
      /** @description On tron: when the transaction can no longer be sent, in seconds since the Unix epoch */
      readonly expirationTimestamp?: number
      readonly blockchainSpecific?: {
        readonly fee?: {
          /** @example 31000000000 */
          readonly maxFeePerGas: string
          /** @example 31000000000 */
          readonly maxPrioriryFeePerGas: string
          /** @example ETH */
          readonly unit: string
        }
      }
    }
    readonly DerivedAddresses: {
      readonly addresses: readonly {
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly address: string
        /** @example 0 */
        readonly index: number
      }[]
    }
    readonly ValidatedAddress: {
      /**
       * @description The address of the request
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly address: string
      /** @description Whether it is an address of the chain */
      readonly isValid: boolean
    }
    readonly SyncedWalletStatus: {
      readonly blockchain: string
      /**
       * @description Extended public key of the wallet
       * @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8
       */
      readonly extendedPublicKey: string
      readonly isActive: boolean
      readonly network: string
      /**
       * @description `syncing` while the past of any address of the wallet is being read, or coins are being looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
      /**
       * @description While `syncing`: blocks whose logs are yet to be read, 0 while coins are looked for
       * @example 120000
       */
      readonly blocksLeft?: number
    }
    readonly DerivedAddress: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /**
       * @description Form of the address
       * @example P2WPKH
       */
      readonly format: string
      /** @description Derivation index */
      readonly index: number
      /** @example account */
      readonly derivationType: string
      /** @example receiving */
      readonly type: string
    }
    readonly HdWalletOutput: {
      /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
      readonly address: string
      /**
       * @description Of the address, from the account's key on
       * @example 0/7
       */
      readonly addressPath: string
      /** @example account */
      readonly derivation: string
      /**
       * @description Of the output in its transaction
       * @example 1
       */
      readonly index: number
      /**
       * @description Whether it can be spent now: no transaction that waits spends it, and it is no young coinbase or peg-out
       * @example true
       */
      readonly isAvailable: boolean
      /**
       * @description Always true: outputs in blocks are listed
       * @example true
       */
      readonly isConfirmed: boolean
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly transactionId: string
      readonly value: components["schemas"]["AmountOnly"]
    }
    readonly AmountOnly: {
      /** @example 1.5 */
      readonly amount: string
    }
    readonly XrpHdWalletTransaction: {
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly hash: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly fee: components["schemas"]["AmountOnly"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      readonly recipient: readonly components["schemas"]["HdWalletMember"][]
      readonly sender: readonly components["schemas"]["HdWalletMember"][]
    }
    readonly HdWalletMember: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /**
       * @description Whether it is an address of the wallet
       * @example true
       */
      readonly isMember: boolean
      readonly value: components["schemas"]["AmountOnly"]
    }
    readonly MinedInBlock: {
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 21000000 */
      readonly height: number
    }
    readonly UtxoHdWalletTransaction: {
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly hash: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly fee: components["schemas"]["AmountOnly"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly id: string
      readonly recipients: readonly components["schemas"]["HdWalletMember"][]
      readonly senders: readonly components["schemas"]["HdWalletMember"][]
    }
    readonly EvmHdWalletTransaction: {
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly fee: components["schemas"]["AmountOnly"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      readonly recipient: readonly components["schemas"]["EvmHdWalletMember"][]
      readonly sender: readonly components["schemas"]["EvmHdWalletMember"][]
    }
    readonly EvmHdWalletMember: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @example 1.5 */
      readonly amount: string
      /**
       * @description Whether it is an address of the wallet
       * @example true
       */
      readonly isMember: boolean
    }
    readonly HdAddress: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @description Derivation index */
      readonly index: number
    }
    readonly HdWalletDetails: {
      /** @example 1.5 */
      readonly confirmedBalance: string
      /**
       * @description On EVM chains and Tron, as `totalSpent`
       * @example 1.5
       */
      readonly totalReceived?: string
      /** @example 1.5 */
      readonly totalSpent?: string
      /** @example ETH */
      readonly unit: string
      /**
       * @description As in the answer about the wallet's assets
       * @example 20000000
       */
      readonly completeFrom?: number
    }
    readonly SyncedWalletState: {
      readonly blockchain: string
      /**
       * @description Extended public key of the wallet
       * @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8
       */
      readonly extendedPublicKey: string
      readonly isActive: boolean
      readonly network: string
      /**
       * @description `syncing` while the past of any address of the wallet is being read, or coins are being looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
    }
    readonly SyncedWalletKey: {
      /**
       * @description Extended public key of the wallet
       * @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8
       */
      readonly extendedPublicKey: string
    }
    readonly SyncedWallet: {
      /**
       * @description Extended public key of the wallet
       * @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8
       */
      readonly extendedPublicKey: string
      readonly isActive: boolean
      /**
       * @description `syncing` while the past of any address of the wallet is being read, or coins are being looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
      /**
       * @description While `syncing`: blocks whose logs are yet to be read, 0 while coins are looked for
       * @example 120000
       */
      readonly blocksLeft?: number
      /**
       * @description How the wallet derives
       * @enum {string}
       */
      readonly derivation: "account" | "bip32"
      /**
       * @description Form of the wallet's addresses: the same key in another form is another wallet. Absent on EVM chains and Tron
       * @example P2WPKH
       * @enum {string}
       */
      readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
    }
    readonly PreparedUtxoTransaction: {
      /** @example invoice 4711 */
      readonly additionalData: string
      /** @example 0 */
      readonly locktime: number
      /**
       * @description Bytes of the signed transaction as fees count them, with signatures of the greatest length
       * @example 141
       */
      readonly size: number
      /** @example 2 */
      readonly version: number
      readonly fee: components["schemas"]["Amount"]
      readonly feePerByte: components["schemas"]["Amount"]
      readonly inputs: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address: string
        /**
         * @description 0 for a receiving address, 1 for change
         * @example 0
         */
        readonly change: number
        /** @example 3 */
        readonly derivationIndex: number
        /** @example 1 */
        readonly outputIndex: number
        /**
         * @description In the smallest unit
         * @example 25000000
         */
        readonly satoshis: number
        /**
         * @description Locking script, in hex
         * @example 0014751e76e8199196d454941c45d1b3a323f1433bd6
         */
        readonly script: string
        /**
         * @description The hash to sign: SIGHASH_ALL, by default of taproot, and with FORKID on bitcoin-cash
         * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
         */
        readonly sighash: string
        /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
        readonly transactionId: string
        /** @example 4294967293 */
        readonly sequence: number
      }[]
      readonly outputs: readonly {
        /**
         * @description Empty where the output has none
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly address: string
        /**
         * @description In the smallest unit
         * @example 25000000
         */
        readonly satoshis: number
        /**
         * @description Locking script, in hex
         * @example 0014751e76e8199196d454941c45d1b3a323f1433bd6
         */
        readonly script: string
      }[]
      /**
       * @description The transaction for a signer (BIP-174, base64). Absent on zcash, and where the node does not show the transactions that legacy inputs spend, or they are more than four megabytes
       * @example cHNidP8BAHEC…
       */
      readonly psbt?: string
      /**
       * @description Until then, in seconds since the Unix epoch, no other transaction is prepared with these coins
       * @example 1764159000
       */
      readonly reservedUntil: number
      readonly blockchainSpecific?: {
        /** @description On bitcoin, litecoin and zcash */
        readonly replaceable?: boolean
        /** @description On bitcoin-cash: the outputs */
        readonly vout?: readonly {
          /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
          readonly address: string
          /**
           * @description In the smallest unit
           * @example 25000000
           */
          readonly satoshis: number
          /**
           * @description Locking script, in hex
           * @example 0014751e76e8199196d454941c45d1b3a323f1433bd6
           */
          readonly script: string
        }[]
        /** @description On zcash (ZIP-200) */
        readonly consensusBranchId?: number
        /** @description On zcash (ZIP-203) */
        readonly expiryHeight?: number
        /** @description On zcash (ZIP-225) */
        readonly versionGroupId?: number
      }
    }
    readonly HdWalletBalance: {
      readonly confirmedBalance: components["schemas"]["Amount"]
      /**
       * @description Height of the block from which on it is known which addresses were used. What was used and emptied before looks unused: coins behind 1,000 such addresses of a UTXO wallet in a row are not found, nor those behind as many deleted accounts of the XRP Ledger as the wallet's gap has. Absent where all of the chain is known
       * @example 850000
       */
      readonly completeFrom?: number
    }
    readonly HdWalletStatus: {
      /**
       * @description `syncing` while coins are being looked for that addresses of the wallet had before they were synced; a balance that was known before goes on being answered
       * @enum {string}
       */
      readonly status: "syncing" | "synced"
      /** @description Absent where no balance is known yet */
      readonly completeFrom?: {
        /**
         * @description The block from which on everything is recorded
         * @example 850000
         */
        readonly height: number
        /** @description Always true: coins that were unspent at that block are recorded as well */
        readonly unspentOutputs: boolean
      }
    }
    readonly PreparedWalletTransaction: {
      /**
       * @description 0 for a receiving address, 1 for change
       * @example 0
       */
      readonly change: number
      /**
       * @description Index of the sender in its branch
       * @example 3
       */
      readonly derivationIndex: number
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly nonce: number
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description The hash to sign
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly sigHash: string
      readonly value: {
        /**
         * @description In Wei, on tron in sun: a number up to 2^53 - 1, above that its decimal digits as text, which lose nothing
         * @example 250000000000000000
         */
        readonly amount: number | string
        /** @example Wei */
        readonly unit: string
      }
      readonly fee: {
        /**
         * @description On tron: points of bandwidth
         * @example 21000
         */
        readonly gasLimit: number
        /**
         * @description 0 for a gas-fee-market-transaction
         * @example 0
         */
        readonly gasPrice: number
        /** @example Wei */
        readonly unit: string
        /** @example 31000000000 */
        readonly maxFeePerGas?: number
        /** @example 1000000000 */
        readonly maxPriorityFeePerGas?: number
        /** @description On tron: all that the transfer burns, for bandwidth, the activation of the recipient and the memo */
        readonly total?: number
      }
      /** @example gas-fee-market-transaction */
      readonly type: string
      /**
       * @description As in `fee`
       * @example 21000
       */
      readonly gasLimit: number
      /**
       * @description As in `fee`
       * @example 0
       */
      readonly gasPrice: number
      /** @description Where `reserve` was given: until then, in seconds since the Unix epoch, the nonce is kept */
      readonly reservedUntil?: number
      /** @description On tron: when the transaction can no longer be sent, in seconds since the Unix epoch */
      readonly expirationTimestamp?: number
    }
    readonly EvmHdWalletAssets: {
      /** @example 1.5 */
      readonly confirmedBalance: string
      readonly fungibleTokens: readonly {
        /** @example 1.5 */
        readonly amount: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly contractAddress: string
        /** @example ERC-20 */
        readonly standard: string
        /** @example EXT */
        readonly symbol: string
      }[]
      readonly nonFungibleTokens: readonly {
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly contractAddress: string
        /** @example ERC-721 */
        readonly standard: string
        /** @example EXT */
        readonly symbol: string
        /** @example 4711 */
        readonly tokenId: string
      }[]
      /**
       * @description Coins that came to the wallet's addresses, by transactions and internal ones, from each other too
       * @example 1.5
       */
      readonly totalReceived: string
      /**
       * @description Coins that left the wallet's addresses in the same way, without the fees that they paid
       * @example 1.5
       */
      readonly totalSpent: string
      /** @example ETH */
      readonly unit: string
      /**
       * @description Height of the block from which on token transfers of every address of the wallet are recorded: tokens that came before and have not moved since may be missing, and an address that had nothing but such tokens counts as unused where the wallet's gap is looked for. Absent where none can be
       * @example 20000000
       */
      readonly completeFrom?: number
    }
    readonly XrpAddressTransaction: {
      /** @example invoice 4711 */
      readonly additionalData?: string
      /** @example 4711 */
      readonly destinationTag?: number
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly hash: string
      readonly offer: components["schemas"]["Amount"]
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Destination of the transaction, or of the escrow, payment channel or check that it fulfils; empty where there is none
       * @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf
       */
      readonly recipient: string
      /** @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf */
      readonly sender: string
      /** @example tesSUCCESS */
      readonly status: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example Payment */
      readonly type: string
      readonly fee: components["schemas"]["Amount"]
      /** @description What arrived at the recipient */
      readonly receive: components["schemas"]["Amount"]
      readonly value: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
    }
    readonly UnspentOutput: {
      /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
      readonly address: string
      /**
       * @description Of the output in its transaction
       * @example 1
       */
      readonly index: number
      /**
       * @description Whether it can be spent now: no transaction that waits spends it, and it is no young coinbase or peg-out
       * @example true
       */
      readonly isAvailable: boolean
      /**
       * @description Always true: outputs in blocks are listed
       * @example true
       */
      readonly isConfirmed: boolean
      /**
       * @description Of the block
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly transactionId: string
      readonly value: components["schemas"]["DenominatedAmount"]
    }
    readonly DenominatedAmount: {
      /**
       * @description Decimal text, never with an exponent
       * @example 0.015
       */
      readonly amount: string
      /** @example BTC */
      readonly unit: string
      /**
       * @description Decimals of the coin's smallest unit
       * @example 8
       */
      readonly denomination: number
    }
    readonly UtxoAddressTransaction: {
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly id: string
      /**
       * @description As `id`
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly transactionID: string
      /**
       * @description Of all bytes, the witness too; on zcash the id
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly hash: string
      /** @example true */
      readonly isConfirmed: boolean
      /** @example 0 */
      readonly locktime: number
      /**
       * @description Bytes
       * @example 222
       */
      readonly size: number
      /** @example 2 */
      readonly version: number
      readonly fee: components["schemas"]["Amount"]
      readonly inputs: readonly {
        /** @description Of the coin that is spent, where its script has an address */
        readonly addresses?: readonly string[]
        /**
         * @description The script of a coinbase, which spends nothing
         * @example 03c6450d
         */
        readonly coinbase?: string
        /**
         * @description Of the coin that is spent; 4294967295 for a coinbase
         * @example 1
         */
        readonly outputIndex: number
        /**
         * @description As `outputIndex`
         * @example 1
         */
        readonly oututIndex: number
        readonly script: {
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
        readonly transactionId: string
        readonly value?: components["schemas"]["Amount"]
        readonly witnesses: readonly string[]
      }[]
      readonly outputs: readonly {
        readonly addresses?: readonly string[]
        /**
         * @description By a transaction in a block or one that waits; one that nobody can spend is not
         * @example false
         */
        readonly isSpent: boolean
        readonly script: {
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        readonly value: components["schemas"]["Amount"]
      }[]
      /**
       * @description -1 for one that waits
       * @example 7
       */
      readonly positionInBlock: number
      /** @description Each address that is paid, with all that it gets */
      readonly recipients: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address: string
        /**
         * @description As `address`
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly addresses: string
        readonly value: components["schemas"]["Amount"]
      }[]
      /** @description Each address whose coins are spent, with all of them */
      readonly senders: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address: string
        /**
         * @description As `address`
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly addresses: string
        readonly value: components["schemas"]["Amount"]
      }[]
      /**
       * @description Of the block, or when the node saw one that waits
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description Without a hash and at height -1 for one that waits */
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /** @description On zcash */
      readonly blockchainSpecific?: {
        /** @example 2800040 */
        readonly expiryHeight: number
        /** @example true */
        readonly overwintered: boolean
        /** @description What Sapling reveals, or hides where it is negative */
        readonly valueBalance: components["schemas"]["Amount"]
        /** @example 892f2085 */
        readonly versionGroupId: string
      }
      /** @description As `blockchainSpecific` */
      readonly blockchaiSpecific: {
        /**
         * @description On zcash; else empty
         * @example
         */
        readonly versionGroupId: string
      }
    }
    readonly UtxoBalance: {
      readonly confirmedBalance: components["schemas"]["DenominatedAmount"]
    }
    readonly UtxoTransaction: {
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly id: string
      /**
       * @description As `id`
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly transactionID: string
      /**
       * @description Of all bytes, the witness too; on zcash the id
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly hash: string
      /** @example true */
      readonly isConfirmed: boolean
      /** @example 0 */
      readonly locktime: number
      /**
       * @description Bytes
       * @example 222
       */
      readonly size: number
      /** @example 2 */
      readonly version: number
      readonly fee: components["schemas"]["Amount"]
      readonly inputs: readonly {
        /** @description Of the coin that is spent, where its script has an address */
        readonly addresses?: readonly string[]
        /**
         * @description The script of a coinbase, which spends nothing
         * @example 03c6450d
         */
        readonly coinbase?: string
        /**
         * @description Of the coin that is spent; 4294967295 for a coinbase
         * @example 1
         */
        readonly outputIndex: number
        /**
         * @description As `outputIndex`
         * @example 1
         */
        readonly oututIndex: number
        readonly script: {
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
        readonly transactionId: string
        readonly value?: components["schemas"]["Amount"]
        readonly witnesses: readonly string[]
      }[]
      readonly outputs: readonly {
        readonly addresses?: readonly string[]
        /**
         * @description By a transaction in a block or one that waits; one that nobody can spend is not
         * @example false
         */
        readonly isSpent: boolean
        readonly script: {
          /** @example witness_v0_keyhash */
          readonly type: string
        }
        readonly value: components["schemas"]["Amount"]
      }[]
      /**
       * @description -1 for one that waits
       * @example 7
       */
      readonly positionInBlock: number
      /** @description Each address that is paid, with all that it gets */
      readonly recipients: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address: string
        /**
         * @description As `address`
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly addresses: string
        readonly value: components["schemas"]["Amount"]
      }[]
      /** @description Each address whose coins are spent, with all of them */
      readonly senders: readonly {
        /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
        readonly address: string
        /**
         * @description As `address`
         * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
         */
        readonly addresses: string
        readonly value: components["schemas"]["Amount"]
      }[]
      /**
       * @description Of the block, or when the node saw one that waits
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description Without a hash and at height -1 for one that waits */
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /** @description On zcash */
      readonly blockchainSpecific?: {
        /** @example 2800040 */
        readonly expiryHeight: number
        /** @example true */
        readonly overwintered: boolean
        /** @description What Sapling reveals, or hides where it is negative */
        readonly valueBalance: components["schemas"]["Amount"]
        /** @example 892f2085 */
        readonly versionGroupId: string
      }
    }
    readonly HeldToken: {
      /** @example Example Token */
      readonly name: string
      /** @example EXT */
      readonly symbol: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly contractAddress: string
      readonly fungibleValues: {
        /**
         * @description Of a contract with ids: how many of them the address has
         * @example 1.5
         */
        readonly amount: string
      }
      /** @example ERC-20 */
      readonly standard: string
    }
    readonly InternalTransaction: {
      /**
       * @description The parent transaction
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly transactionHash: string
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /**
       * @description Trace address
       * @example call_0_1
       */
      readonly operationId: string
      /** @example call */
      readonly operationType: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly value: components["schemas"]["Amount"]
    }
    readonly EvmAddressTransaction: {
      /**
       * @description The contract that is created, or called as far as there is one at present; else empty
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly contract: string
      /** @description All that the transaction has cost: gas, blobs (EIP-4844), and what rollups pay to the chain below */
      readonly fee: components["schemas"]["Amount"]
      /**
       * @description On tron the most that a call may burn for energy (`fee_limit`), in sun; 0 of what is no call
       * @example 65000
       */
      readonly gasLimit: number
      /**
       * @description On tron energy
       * @example 51000
       */
      readonly gasUsed: number
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Or the contract that is created
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /** @enum {string} */
      readonly status: "success" | "failed"
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description What a unit of gas has cost; on tron a unit of energy, and 0 where stakes gave all of it */
      readonly gasPrice: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /**
       * @description On tron 0: there is none
       * @example 7
       */
      readonly nonce: number
      readonly value: components["schemas"]["Amount"]
      /** @description On tron */
      readonly blockchainSpecific?: {
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidth: number
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidthUsed: number
        /** @description On tron: all energy that the call of a contract took */
        readonly energy: number
        /** @description As `energy`, as text */
        readonly energyUsed: string
        /** @description As `bandwidth` */
        readonly bandwithUsed: number
      }
      /** @description As `value` */
      readonly vallue: components["schemas"]["Amount"]
    }
    readonly Amount: {
      /**
       * @description Decimal text, never with an exponent
       * @example 0.015
       */
      readonly amount: string
      /** @example BTC */
      readonly unit: string
    }
    readonly TokenTransferWithDecimals: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly tokenData: {
        readonly fungibleValues: {
          /** @example 1.5 */
          readonly amount: string
          /**
           * @description 0 where the contract does not say them: the amount is in the smallest unit then
           * @example 6
           */
          readonly decimals: number
        }
        /** @example Example Token */
        readonly name: string
        readonly nonFungibleValues?: {
          /** @example 4711 */
          readonly tokenId?: string
        }
        /** @example EXT */
        readonly symbol: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly contractAddress: string
        /** @example ERC-20 */
        readonly standard: string
      }
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionHash: string
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
    }
    readonly EvmTransaction: {
      /**
       * @description The contract that is created, or called as far as there is one at present; else empty
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly contract: string
      /** @description All that the transaction has cost: gas, blobs (EIP-4844), and what rollups pay to the chain below */
      readonly fee: components["schemas"]["Amount"]
      /**
       * @description On tron the most that a call may burn for energy (`fee_limit`), in sun; 0 of what is no call
       * @example 65000
       */
      readonly gasLimit: number
      /**
       * @description On tron energy
       * @example 51000
       */
      readonly gasUsed: number
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Or the contract that is created
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /** @enum {string} */
      readonly status: "success" | "failed"
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description What a unit of gas has cost; on tron a unit of energy, and 0 where stakes gave all of it */
      readonly gasPrice: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /**
       * @description On tron 0: there is none
       * @example 7
       */
      readonly nonce: number
      readonly value: components["schemas"]["Amount"]
      /** @description On tron */
      readonly blockchainSpecific?: {
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidth: number
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidthUsed: number
        /** @description On tron: all energy that the call of a contract took */
        readonly energy: number
        /** @description As `energy`, as text */
        readonly energyUsed: string
      }
    }
    readonly SyncedAddressState: {
      readonly isActive: boolean
      /**
       * @description `syncing` while the past of the address is being read; on UTXO chains while its coins are looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
    }
    readonly NewSyncedAddress: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      readonly blockchain: string
      /**
       * @description The `callbackUrl` of the request
       * @example https://example.com/callbacks
       */
      readonly callcackUrl?: string
      readonly network: string
      readonly isActive: boolean
      /**
       * @description `syncing` while the past of the address is being read; on UTXO chains while its coins are looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
    }
    readonly SyncedAddress: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      readonly blockchain: string
      /**
       * @description Grows with each address
       * @example 17
       */
      readonly id: string
      readonly network: string
      /**
       * @description While `syncing`: blocks whose logs are yet to be read, 0 while coins are looked for
       * @example 120000
       */
      readonly blocksLeft?: number
      readonly isActive: boolean
      /**
       * @description `syncing` while the past of the address is being read; on UTXO chains while its coins are looked for
       * @enum {string}
       */
      readonly syncStatus: "syncing" | "synced"
    }
    readonly TokenTransfer: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly tokenData: {
        readonly fungibleValues: {
          /** @example 1.5 */
          readonly amount: string
        }
        /** @example Example Token */
        readonly name: string
        readonly nonFungibleValues?: {
          /** @example 4711 */
          readonly tokenId?: string
        }
        /** @example EXT */
        readonly symbol: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly contractAddress: string
        /** @example ERC-20 */
        readonly standard: string
      }
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionHash: string
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
    }
    readonly BroadcastOutcome: {
      /**
       * @description When it was broadcast first, in seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      /**
       * @description Why it is failed, replaced or dropped
       * @example nonce too low
       */
      readonly errorMessage?: string
      readonly minedInBlock?: components["schemas"]["MinedInBlock"]
      /**
       * @description `unknown`: given to the nodes, none of which has answered yet; `sent`: a node has it; `mined`: a block has it; `failed`: refused by the nodes, or in a block as failed; `replaced`: another transaction with its nonce, sequence or inputs is in a block; `dropped`: no node has it any more, or its time is over
       * @example mined
       * @enum {string}
       */
      readonly outcome: "unknown" | "sent" | "mined" | "failed" | "replaced" | "dropped"
      /**
       * @description The transaction's id, on an account chain its hash
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly transactionId: string
      /**
       * @description When the outcome last changed, in seconds since the Unix epoch
       * @example 1764158400
       */
      readonly updatedTimestamp: number
    }
    readonly TokenDetails: {
      /** @example Example Token */
      readonly name: string
      /** @example ERC-20 */
      readonly standard: string
      /** @example EXT */
      readonly symbol: string
      /** @description Of a fungible token */
      readonly fungibleValues?: {
        /** @example 6 */
        readonly decimals?: number
        /** @example 119500000000.5 */
        readonly totalSupply: string
      }
    }
    readonly Balance: {
      readonly confirmedBalance: components["schemas"]["Amount"]
    }
    readonly GasLimit: {
      /**
       * @description Gas, with room for a contract to take more; on tron points of bandwidth of a plain transfer, energy of a call
       * @example 21000
       */
      readonly gasLimit: number
    }
    readonly MarketFees: {
      /**
       * @description Height of the newest block
       * @example 21000000
       */
      readonly lastBlock: number
      /** @description Of the next block */
      readonly baseFeePerGas: {
        /** @example ETH */
        readonly unit: string
        /** @example 15000000000 */
        readonly value: string
      }
      readonly maxFeePerGas: {
        /** @example 31000000000 */
        readonly fast: string
        /** @example 31000000000 */
        readonly slow: string
        /** @example 31000000000 */
        readonly standard: string
        /** @example ETH */
        readonly unit: string
      }
      readonly maxPriorityFeePerGas: {
        /** @example 1000000000 */
        readonly fast: string
        /** @example 1000000000 */
        readonly slow: string
        /** @example 1000000000 */
        readonly standard: string
        /** @example ETH */
        readonly unit: string
      }
    }
    readonly SimulatedTransaction: {
      /**
       * @description The recipient, where it is a contract
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly contract?: string
      /** @example 65000 */
      readonly gasLimit: number
      /**
       * @description Absent where the node does not trace a transaction that fails
       * @example 51000
       */
      readonly gasUsed?: number
      /**
       * @description What would be signed
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly hash: string
      /** @example 0x */
      readonly inputData?: string
      /** @description Absent where the node traces nothing, as `tokenTransfers` */
      readonly internalTransactions?: readonly {
        /**
         * @description 1 for a call of the transaction's own
         * @example 1
         */
        readonly depth: number
        /** @example call */
        readonly operationType: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly recipient: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly sender: string
        readonly value: components["schemas"]["Amount"]
      }[]
      /** @example 7 */
      readonly nonce: number
      /** @example 0 */
      readonly positionInBlock: number
      /** @enum {string} */
      readonly status: "success" | "failed"
      /**
       * @description Of the block on top of which the transaction was run
       * @example 1764158400
       */
      readonly timestamp: number
      readonly tokenTransfers?: readonly components["schemas"]["TokenMove"][]
      /** @description For the gas that is used, at the highest price that is allowed */
      readonly fee: components["schemas"]["Amount"]
      readonly gasPrice: {
        /** @example 31000000000 */
        readonly amount: number
        /** @example ETH */
        readonly unit: string
      }
      readonly maxFeePerGas?: {
        /** @example 31000000000 */
        readonly amount?: string
        /** @example ETH */
        readonly unit: string
      }
      readonly maxPriorityFeePerGas?: {
        /** @example 31000000000 */
        readonly amount?: string
        /** @example ETH */
        readonly unit: string
      }
      /** @description The block on top of which the transaction was run */
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      readonly value: components["schemas"]["Amount"]
    }
    readonly TokenMove: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      readonly tokenData: {
        readonly fungibleValues: {
          /** @example 1.5 */
          readonly amount: string
          /**
           * @description Absent where the contract does not say them: the amount is in the smallest unit then
           * @example 6
           */
          readonly decimals?: number
        }
        /** @example Example Token */
        readonly name: string
        readonly nonFungibleValues?: {
          /** @example 4711 */
          readonly tokenId?: string
        }
        /** @example EXT */
        readonly symbol: string
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly contractAddress: string
        /** @example ERC-20 */
        readonly standard: string
      }
    }
    readonly PreparedPayment: {
      /** @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf */
      readonly sender: string
      /** @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf */
      readonly recipient: string
      /** @example 4711 */
      readonly destinationTag?: number
      readonly value: components["schemas"]["Amount"]
      readonly fee: components["schemas"]["Amount"]
      /** @example 71550321 */
      readonly sequence: number
      /**
       * @description The last ledger that may have the payment; behind that it can never be executed
       * @example 90000020
       */
      readonly lastLedgerSequence: number
      /**
       * @description Until then, in seconds since the Unix epoch, no other payment is prepared with this sequence
       * @example 1764159000
       */
      readonly reservedUntil?: number
      /**
       * @description The payment without its signature
       * @example 1200002280000000240441C0D1
       */
      readonly transactionHex: string
      /**
       * @description What an Ed25519 key signs
       * @example 1200002280000000240441C0D1
       */
      readonly signingData: string
      /**
       * @description What a secp256k1 key signs: the first half of SHA-512 of `signingData`
       * @example 9D21F1A2C3B74E0D8F5E6A7B8C9D0E1F2A3B4C5D6E7F8091A2B3C4D5E6F70819
       */
      readonly sighash: string
    }
    readonly PreparedTokenTransfer: {
      /**
       * @description The call of the token's contract; on tron the `raw_data` of the transaction
       * @example 0x
       */
      readonly inputData: string
      /** @example 7 */
      readonly nonce: number
      /**
       * @description The token's contract, which the transaction calls
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description The hash to sign
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly sigHash: string
      readonly value: {
        /**
         * @description Coins that the transaction moves: none
         * @example 0
         */
        readonly amount: string
      }
      readonly fee: {
        /**
         * @description Wei; 0 for a gas-fee-market-transaction
         * @example 0
         */
        readonly gasPrice: number
        /** @example 31000000000 */
        readonly maxFeePerGas: number
        /** @example 1000000000 */
        readonly maxPriorityFeePerGas: number
        /** @example ETH */
        readonly unit: string
        /** @description On tron: all that the transfer burns, for bandwidth, the activation of the recipient and the memo */
        readonly total?: number
      }
      /**
       * @description On tron: points of bandwidth
       * @example 21000
       */
      readonly gasLimit: number
      /** @example gas-fee-market-transaction */
      readonly type: string
      /** @description On tron: when the transaction can no longer be sent, in seconds since the Unix epoch */
      readonly expirationTimestamp?: number
      /** @description Where `reserve` was given: until then, in seconds since the Unix epoch, the nonce is kept */
      readonly reservedUntil?: number
    }
    readonly XrpTransactionDetails: {
      /**
       * @description Empty without a memo
       * @example invoice 4711
       */
      readonly additionalData: string
      /** @example 4711 */
      readonly destinationTag?: number
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly hash: string
      readonly offer: components["schemas"]["Amount"]
      /** @example 7 */
      readonly positionInBlock: string
      /**
       * @description Destination of the transaction, or of the escrow, payment channel or check that it fulfils; empty where there is none
       * @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf
       */
      readonly recipient: string
      /** @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf */
      readonly sender: string
      /** @example tesSUCCESS */
      readonly status: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example Payment */
      readonly type: string
      readonly fee: components["schemas"]["Amount"]
      /** @description What arrived at the recipient */
      readonly receive: components["schemas"]["Amount"]
      readonly value: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
    }
    readonly PreparedTransaction: {
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly nonce: number
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description The hash to sign
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly sighash: string
      readonly value: components["schemas"]["Amount"]
      readonly fee: {
        /**
         * @description Wei; 0 for a gas-fee-market-transaction
         * @example 0
         */
        readonly gasPrice: number
        /** @example 31000000000 */
        readonly maxFeePerGas: number
        /** @example 1000000000 */
        readonly maxPriorityFeePerGas: number
        /** @example ETH */
        readonly unit: string
        /** @description On tron: all that the transfer burns, for bandwidth, the activation of the recipient and the memo */
        readonly total?: number
      }
      /**
       * @description On tron: points of bandwidth
       * @example 21000
       */
      readonly gasLimit: number
      /** @example gas-fee-market-transaction */
      readonly type: string
      /** @description Where `reserve` was given: until then, in seconds since the Unix epoch, the nonce is kept */
      readonly reservedUntil?: number
      /** @description On tron: when the transaction can no longer be sent, in seconds since the Unix epoch */
      readonly expirationTimestamp?: number
    }
    readonly Log: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @example 0x000000000000000000000000000000000000000000000000000000000ee6b280 */
      readonly data: string
      /** @example false */
      readonly isRemoved: boolean
      /** @example Transfer(address,address,uint256) */
      readonly name?: string
      readonly topics: readonly string[]
    }
    readonly InternalTransfer: {
      /**
       * @description Trace address
       * @example call_0_1
       */
      readonly operationId: string
      /** @example call */
      readonly operationType: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      readonly value: components["schemas"]["Amount"]
    }
    readonly SingleEvmTransaction: {
      /**
       * @description The contract that is created, or called as far as there is one at present; else empty
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly contract: string
      /** @description All that the transaction has cost: gas, blobs (EIP-4844), and what rollups pay to the chain below */
      readonly fee: components["schemas"]["Amount"]
      /**
       * @description On tron the most that a call may burn for energy (`fee_limit`), in sun; 0 of what is no call
       * @example 65000
       */
      readonly gasLimit: number
      /**
       * @description On tron energy
       * @example 51000
       */
      readonly gasUsed: number
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Or the contract that is created
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /** @enum {string} */
      readonly status: "success" | "failed"
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description What a unit of gas has cost; on tron a unit of energy, and 0 where stakes gave all of it */
      readonly gasPrice: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /**
       * @description On tron 0: there is none
       * @example 7
       */
      readonly nonce: number
      readonly value: components["schemas"]["Amount"]
      readonly blockchainSpecific?: {
        readonly signatureData?: {
          /**
           * @description The first four bytes of the call of a contract
           * @example 0xa9059cbb
           */
          readonly signature?: string
        }
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidth?: number
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidthUsed?: number
        /** @description On tron: all energy that the call of a contract took */
        readonly energy?: number
        /** @description As `energy`, as text */
        readonly energyUsed?: string
      }
    }
    readonly XrpTransaction: {
      /** @example invoice 4711 */
      readonly additionalData?: string
      /** @example 4711 */
      readonly destinationTag?: number
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly hash: string
      readonly offer: components["schemas"]["Amount"]
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Destination of the transaction, or of the escrow, payment channel or check that it fulfils; empty where there is none
       * @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf
       */
      readonly recipient: string
      /** @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf */
      readonly sender: string
      /** @example tesSUCCESS */
      readonly status: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example Payment */
      readonly type: string
      readonly fee: components["schemas"]["Amount"]
      /** @description What arrived at the recipient */
      readonly receive: components["schemas"]["Amount"]
      readonly value: components["schemas"]["Amount"]
    }
    readonly XrpBlock: {
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly hash: string
      /** @description Index of the ledger */
      readonly height: number
      /**
       * @description Empty in the newest ledger; absent where the newest ledgers are asked for
       * @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9
       */
      readonly nextBlockHash?: string
      /** @example A6D2EB9A46774F2205E3C22E104EB767D9E49D9083F8B966F304B8CA5E8B10A9 */
      readonly previousBlockHash: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description All XRP that there is */
      readonly totalCoins: components["schemas"]["Amount"]
      /** @description What the transactions of the ledger have burned */
      readonly totalFees: components["schemas"]["Amount"]
      /** @example 73 */
      readonly transactionsCount: number
    }
    readonly NewestUtxoBlock: {
      /**
       * @description The compact target
       * @example 386053475
       */
      readonly bits: number
      /** @example 00000000000000000000000000000000000000009a1b7c3e5d2f4a6b8c0d1e2f */
      readonly chainwork: string
      /**
       * @description Rounded down
       * @example 101646843652785
       */
      readonly difficulty: number
      /** @example 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b */
      readonly merkleRoot: string
      /**
       * @description Bytes
       * @example 1612345
       */
      readonly size: number
      /** @example 536870912 */
      readonly version: number
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly hash: string
      /**
       * @description Blocks before this one
       * @example 870000
       */
      readonly height: number
      /** @example 00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054 */
      readonly previousBlockHash: string
      /**
       * @description Bytes without witness data
       * @example 793482
       */
      readonly strippedSize: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example 3120 */
      readonly transactionsCount: number
      /** @example 20000000 */
      readonly versionHex: string
      /** @example 3992791 */
      readonly weight: number
      /**
       * @description Absent in the newest block
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly nextBlockHash?: string
    }
    readonly UtxoBlock: {
      /**
       * @description The compact target
       * @example 386053475
       */
      readonly bits: number
      /** @example 00000000000000000000000000000000000000009a1b7c3e5d2f4a6b8c0d1e2f */
      readonly chainwork: string
      /**
       * @description Rounded down
       * @example 101646843652785
       */
      readonly difficulty: number
      /** @example 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b */
      readonly merkleRoot: string
      /**
       * @description Bytes
       * @example 1612345
       */
      readonly size: number
      /** @example 536870912 */
      readonly version: number
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly hash: string
      /**
       * @description Blocks before this one
       * @example 870000
       */
      readonly height: number
      /** @example 00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054 */
      readonly previousBlockHash: string
      /**
       * @description Bytes without witness data
       * @example 793482
       */
      readonly strippedSize: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example 3120 */
      readonly transactionsCount: number
      /** @example 20000000 */
      readonly versionHex: string
      /** @example 3992791 */
      readonly weight: number
    }
    readonly UtxoBlockDetails: {
      /**
       * @description The compact target
       * @example 386053475
       */
      readonly bits: number
      /** @example 00000000000000000000000000000000000000009a1b7c3e5d2f4a6b8c0d1e2f */
      readonly chainwork: string
      /**
       * @description Rounded down
       * @example 101646843652785
       */
      readonly difficulty: number
      /** @example 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b */
      readonly merkleRoot: string
      /**
       * @description Bytes
       * @example 1612345
       */
      readonly size: number
      /** @example 536870912 */
      readonly version: number
      /** @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0 */
      readonly hash: string
      /**
       * @description Blocks before this one
       * @example 870000
       */
      readonly height: number
      /** @example 00000000000000000002a7c4c1e48d76c5a37902165a270156b7a8d72728a054 */
      readonly previousBlockHash: string
      /**
       * @description Bytes without witness data
       * @example 793482
       */
      readonly strippedSize: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @example 3120 */
      readonly transactionsCount: number
      /** @example 20000000 */
      readonly versionHex: string
      /** @example 3992791 */
      readonly weight: number
      /**
       * @description As `merkleRoot`
       * @example 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b
       */
      readonly merkleroot: string
      /**
       * @description Empty in the newest block
       * @example 6bc3e3982dcb4cc3ccdaa29acf9e4897e4d7504def5e97b782b0646ca53bf7b0
       */
      readonly nextBlockHash: string
    }
    readonly EvmTransactionAtHeight: {
      /**
       * @description The contract that is created, or called as far as there is one at present; else empty
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly contract: string
      /** @description All that the transaction has cost: gas, blobs (EIP-4844), and what rollups pay to the chain below */
      readonly fee: components["schemas"]["Amount"]
      /**
       * @description On tron the most that a call may burn for energy (`fee_limit`), in sun; 0 of what is no call
       * @example 65000
       */
      readonly gasLimit: number
      /**
       * @description On tron energy
       * @example 51000
       */
      readonly gasUsed: number
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /** @example 0x */
      readonly inputData: string
      /** @example 7 */
      readonly positionInBlock: number
      /**
       * @description Or the contract that is created
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly recipient: string
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly sender: string
      /** @enum {string} */
      readonly status: "success" | "failed"
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description What a unit of gas has cost; on tron a unit of energy, and 0 where stakes gave all of it */
      readonly gasPrice: components["schemas"]["Amount"]
      readonly minedInBlock: components["schemas"]["MinedInBlock"]
      /**
       * @description On tron 0: there is none
       * @example 7
       */
      readonly nonce: number
      readonly value: components["schemas"]["Amount"]
      /** @description On tron */
      readonly blockchainSpecific?: {
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidth: number
        /** @description On tron: points of bandwidth from stakes and the free allowance; those that were paid for are in `fee` */
        readonly bandwidthUsed: number
        /** @description On tron: all energy that the call of a contract took */
        readonly energy: number
        /** @description As `energy`, as text */
        readonly energyUsed: string
      }
      /**
       * @description As `timestamp`
       * @example 1764158400
       */
      readonly timestapm: number
    }
    readonly EvmBlock: {
      /** @example 0x546974616e */
      readonly extraData: string
      /**
       * @description On tron 0: a block has no limit
       * @example 36000000
       */
      readonly gasLimit: number
      /**
       * @description On tron energy
       * @example 17412904
       */
      readonly gasUsed: number
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly hash: string
      /**
       * @description Blocks before this one
       * @example 21000000
       */
      readonly height: number
      /**
       * @description Since the block before; 0 in the first block
       * @example 12
       */
      readonly minedInSeconds: number
      /**
       * @description Empty in the newest block; absent where the newest blocks are asked for
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly nextBlockHash?: string
      /** @description A whole number, which may be above 2^53; 0 where the chain has none */
      readonly nonce: number
      /** @example 0x96cfa0fb5e50b0a3f6cc76f3299cfbf48f17e8b41798d1394474e67ec8a97e9f */
      readonly previousBlockHash: string
      /**
       * @description Bytes
       * @example 92341
       */
      readonly size: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
      /** @description A whole number, which may be above 2^53; 0 where the node keeps none */
      readonly totalDifficulty: number
      /** @example 182 */
      readonly transactionsCount: number
      /** @description On tron */
      readonly blockchainSpecific?: {
        /** @description Points of bandwidth from stakes and the free allowance; those that were paid for are in the fees */
        readonly bandwidthUsed: number
        /** @description All energy that calls of contracts took */
        readonly energyUsed: number
        /**
         * @description What the transactions paid as fees, in TRX; absent where the newest blocks are listed
         * @example 1.5
         */
        readonly burnedTRX?: string
      }
    }
    readonly RecoveredReceivers: {
      /**
       * @description Subscriptions whose callbacks are sent again
       * @example 3
       */
      readonly subscriptions: number
    }
    readonly Receiver: {
      /**
       * @description Host of callback URLs
       * @example hooks.example.com
       */
      readonly host: string
      /**
       * @description `unverified`: the account has not verified the host, and nothing is sent; `inactive`: deactivated, of a host all subscriptions; `paused`: several attempts had no answer, and the host is left alone for a moment; `failing`: the last attempt failed, of a host that of any subscription; `recovering`: the last attempt was accepted, and callbacks that were not are still to be sent again; `healthy`: nothing of these
       * @example failing
       * @enum {string}
       */
      readonly state: "healthy" | "recovering" | "failing" | "paused" | "unverified" | "inactive"
      /**
       * @description When the first attempt failed after the last one that was accepted; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly failingSinceTimestamp?: number
      /**
       * @description Why the last attempt failed; of a subscription, its own one
       * @example answered 500
       */
      readonly error?: string
      /**
       * @description Until when the host is left alone; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly pausedUntilTimestamp?: number
      /**
       * @description When a callback is sent again; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly nextAttemptTimestamp?: number
      /**
       * @description When the oldest callback was made that is still to be sent; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly oldestTimestamp?: number
      /**
       * @description Attempts that the following figures are of: a host's of the last hour, those of a subscription's last 100 callbacks
       * @example 250
       */
      readonly attempts: number
      /**
       * @description The part of the attempts that was accepted, from 0 to 1
       * @example 0.992
       */
      readonly successRate?: number
      /**
       * @description Milliseconds within which half of the answers came, rounded up to one of a few bounds
       * @example 40
       */
      readonly p50Millis?: number
      /**
       * @description Milliseconds within which 99 of 100 answers came, rounded up
       * @example 400
       */
      readonly p99Millis?: number
      /**
       * @description Callbacks before their first attempt
       * @example 2
       */
      readonly waiting: number
      /**
       * @description Callbacks that were not accepted yet
       * @example 1
       */
      readonly retrying: number
      /**
       * @description Subscriptions whose last attempt failed
       * @example 1
       */
      readonly failingSubscriptions: number
      /**
       * @description Subscriptions that are inactive
       * @example 0
       */
      readonly inactiveSubscriptions: number
    }
    readonly Domain: {
      /** @example example.com */
      readonly domain: string
      /**
       * @description Publish it as the DNS TXT record `_headwater-challenge.<domain>` or at `https://<domain>/.well-known/headwater-challenge.txt`
       * @example Yk3vR1pU8s0ZqJx7cH2mT5bN9wLfE4aGdK6oQiVtXzA
       */
      readonly token: string
      readonly isVerified: boolean
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly verifiedTimestamp?: number
    }
    readonly AccountCallback: {
      /**
       * @description Place of the callback in the account's feed: what `startingAfter` takes to read on behind it
       * @example 4711-5f0d3a9b71c2-0b6e5a79
       */
      readonly position: string
      /** @example ethereum */
      readonly blockchain: string
      /** @example mainnet */
      readonly network: string
      /**
       * @description Of the subscription
       * @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1
       */
      readonly referenceId: string
      /**
       * @description Number of the callback within the subscription, from 1 without gaps, as in the header x-callback-sequence
       * @example 17
       */
      readonly sequence: number
      /** @example 9d6e1c4a5b7f40e2a3c8d1f0b6e5a794 */
      readonly idempotencyKey: string
      /** @example ADDRESS_COINS_TRANSACTION_CONFIRMED */
      readonly event: string
      /**
       * @description `due`: to be sent, or sent again; `held`: the subscription is inactive or its domain unverified; `delivered`: accepted; `orphaned`: not sent while the block is not part of the chain; `expired`: parked for too long or among too many, or an entry of the feed that is not sent; `retracted`: followed by a retraction, since the block left the chain
       * @enum {string}
       */
      readonly state: "due" | "held" | "delivered" | "orphaned" | "expired" | "retracted"
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly createdTimestamp: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly deliveredTimestamp?: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly nextAttemptTimestamp?: number
      /** @description The last ones, oldest first */
      readonly attempts: readonly components["schemas"]["CallbackAttempt"][]
      /** @description The JSON text that is signed and sent */
      readonly body: string
    }
    readonly CallbackAttempt: {
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly timestamp: number
      /**
       * @description Milliseconds until the answer or the failure
       * @example 84
       */
      readonly duration: number
      /** @example 200 */
      readonly statusCode?: number
      /** @description Why the callback was not accepted */
      readonly error?: string
    }
    readonly UnresolvedEvent: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionId: string
      /** @example 870000 */
      readonly minedInBlockHeight: number
      /**
       * @description Why the net amount is in doubt
       * @example an input may spend coins of the address that are neither recorded nor shown by the node
       */
      readonly reason: string
      /**
       * @description What the operator of the server can do
       * @example Let the chain's node keep a transaction index
       */
      readonly remedy: string
    }
    readonly SubscriptionStatus: {
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
        | "BROADCAST_TRANSACTION"
      readonly isActive: boolean
      /**
       * @description The last block that the subscription was evaluated against
       * @example 21000007
       */
      readonly evaluatedHeight?: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly lastMatchTimestamp?: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly lastDeliveryTimestamp?: number
      /**
       * @description Number of the last callback that has one
       * @example 17
       */
      readonly lastSequence: number
      /**
       * @description Callbacks before their first attempt
       * @example 2
       */
      readonly waiting: number
      /**
       * @description Callbacks that were not accepted yet
       * @example 1
       */
      readonly retrying: number
      /**
       * @description Movements of coins without a callback yet, since their net amount is in doubt
       * @example 0
       */
      readonly unresolved: number
      /**
       * @description Parked callbacks: the subscription is inactive, or the domain unverified
       * @example 0
       */
      readonly held: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly heldSinceTimestamp?: number
      /**
       * @description The first block that the inactive subscription is not evaluated against, since no more is parked
       * @example 21000008
       */
      readonly gapFromHeight?: number
      /**
       * @description How long callbacks stay parked until the domain is verified, or are parked for an inactive subscription
       * @example 604800
       */
      readonly heldSecondsLimit: number
      /**
       * @description How many callbacks stay parked until the domain is verified, or are parked for an inactive subscription
       * @example 10000
       */
      readonly heldCountLimit: number
      readonly recovery?: components["schemas"]["CallbackRecovery"]
      /** @description The same of what is sent to another URL */
      readonly copy?: components["schemas"]["CallbackRecovery"]
      readonly delivery: components["schemas"]["ReceiverHealth"]
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
    }
    readonly ReceiverHealth: {
      /**
       * @description `unverified`: the account has not verified the host, and nothing is sent; `inactive`: deactivated, of a host all subscriptions; `paused`: several attempts had no answer, and the host is left alone for a moment; `failing`: the last attempt failed, of a host that of any subscription; `recovering`: the last attempt was accepted, and callbacks that were not are still to be sent again; `healthy`: nothing of these
       * @example failing
       * @enum {string}
       */
      readonly state: "healthy" | "recovering" | "failing" | "paused" | "unverified" | "inactive"
      /**
       * @description When the first attempt failed after the last one that was accepted; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly failingSinceTimestamp?: number
      /**
       * @description Why the last attempt failed; of a subscription, its own one
       * @example answered 500
       */
      readonly error?: string
      /**
       * @description Until when the host is left alone; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly pausedUntilTimestamp?: number
      /**
       * @description When a callback is sent again; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly nextAttemptTimestamp?: number
      /**
       * @description When the oldest callback was made that is still to be sent; milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly oldestTimestamp?: number
      /**
       * @description Attempts that the following figures are of: a host's of the last hour, those of a subscription's last 100 callbacks
       * @example 250
       */
      readonly attempts: number
      /**
       * @description The part of the attempts that was accepted, from 0 to 1
       * @example 0.992
       */
      readonly successRate?: number
      /**
       * @description Milliseconds within which half of the answers came, rounded up to one of a few bounds
       * @example 40
       */
      readonly p50Millis?: number
      /**
       * @description Milliseconds within which 99 of 100 answers came, rounded up
       * @example 400
       */
      readonly p99Millis?: number
    }
    readonly CallbackRecovery: {
      /**
       * @description The last number that has been looked at: later ones are still to be sent again
       * @example 0
       */
      readonly afterSequence: number
      /**
       * @description The last number that is sent again
       * @example 17
       */
      readonly lastSequence: number
      /**
       * @description How many are sent again so far
       * @example 0
       */
      readonly callbacks: number
      /**
       * @description Where they are sent, if not to the subscription's own URL
       * @example https://example.com/callbacks
       */
      readonly callbackUrl?: string
      /**
       * @description Why the last attempt at another URL failed
       * @example answered 500
       */
      readonly error?: string
      /**
       * @description When something is sent to another URL next, in milliseconds since the Unix epoch; missing there where the attempts have run out
       * @example 1764158400000
       */
      readonly nextAttemptTimestamp?: number
    }
    readonly SubscriptionDetails: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address?: string
      readonly blockchain: string
      /** @example yourSecretString */
      readonly callbackSecretKey?: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      readonly confirmationsCount?: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly deactivationReasons?: readonly components["schemas"]["DeactivationReason"][]
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
        | "BROADCAST_TRANSACTION"
      readonly filter?: components["schemas"]["Filter"]
      readonly isActive: boolean
      readonly network: string
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionId?: string
    }
    /**
     * @example {
     *       "direction": "incoming",
     *       "minimumAmount": "0.5"
     *     }
     */
    readonly Filter: {
      /**
       * @description Only what the address gets, or only what it pays
       * @enum {string}
       */
      readonly direction?: "incoming" | "outgoing"
      /**
       * @description The least amount, in the unit of the callback's `amount`: whole coins or whole tokens
       * @example 0.5
       */
      readonly minimumAmount?: string
      /**
       * @description Address of the one token contract that is meant
       * @example 0xdAC17F958D2ee523a2206206994597C13D831ec7
       */
      readonly contractAddress?: string
      /**
       * @description The one event that is meant, as Solidity declares it or as its object in the contract's ABI: callbacks have the arguments decoded
       * @example event Transfer(address indexed from, address indexed to, uint256 value)
       */
      readonly abi?: string | Record<string, never>
      /**
       * @description As `eth_getLogs` has them: at each place a topic, several of which one has to be there, or null for any
       * @example [
       *       "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
       *     ]
       */
      readonly topics?: readonly (string | readonly string[] | null)[]
    }
    readonly DeactivationReason: {
      /**
       * @description `maximum_retry_attempts_reached`: a callback was not accepted by any attempt; `receiver_gone`: the receiver answered 410; `callback_url_not_allowed`: the operator allows the URL no more; `insufficient_credits`: the account could not pay for a day; `callback_secret_lost`: the operator has lost the key of the secret; `deactivated_by_operator`, or the operator's own words
       * @example maximum_retry_attempts_reached
       */
      readonly reason: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly timestamp: number
    }
    readonly Callback: {
      /**
       * @description Number of the callback within the subscription, from 1 without gaps, as in the header x-callback-sequence
       * @example 17
       */
      readonly sequence?: number
      /**
       * @description Place of the callback in the feed that is read: what `startingAfter` takes to read on behind it
       * @example 17-5f0d3a9b71c2-e19ac04d
       */
      readonly position?: string
      /** @example 9d6e1c4a5b7f40e2a3c8d1f0b6e5a794 */
      readonly idempotencyKey: string
      /** @example ADDRESS_COINS_TRANSACTION_CONFIRMED */
      readonly event: string
      /**
       * @description `due`: to be sent, or sent again; `held`: the subscription is inactive or its domain unverified; `delivered`: accepted; `orphaned`: not sent while the block is not part of the chain; `expired`: parked for too long or among too many, or an entry of the feed that is not sent; `retracted`: followed by a retraction, since the block left the chain
       * @enum {string}
       */
      readonly state: "due" | "held" | "delivered" | "orphaned" | "expired" | "retracted"
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly createdTimestamp: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly deliveredTimestamp?: number
      /**
       * @description Milliseconds since the Unix epoch
       * @example 1764158400000
       */
      readonly nextAttemptTimestamp?: number
      /** @description The last ones, oldest first */
      readonly attempts: readonly components["schemas"]["CallbackAttempt"][]
      /** @description The JSON text that is signed and sent */
      readonly body: string
    }
    readonly ExtendedKeyState: {
      /** @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8 */
      readonly extendedPublicKey: string
      /** @enum {string} */
      readonly derivationType: "account" | "bip32"
      /**
       * @example STANDARD
       * @enum {string}
       */
      readonly format: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      /** @example 20 */
      readonly window: number
      readonly branches: readonly {
        /**
         * @description The branch of the wallet
         * @enum {string}
         */
        readonly type: "receiving" | "change"
        /**
         * @description Absent where no address is known to be used. Does not go back where blocks leave the chain
         * @example 7
         */
        readonly furthestUsedIndex?: number
        /**
         * @description Addresses from index 0 on that are watched
         * @example 28
         */
        readonly addresses: number
      }[]
      /**
       * @description Watched addresses of all branches
       * @example 48
       */
      readonly total: number
      /**
       * @description Height of the block from which on every payment to the watched addresses is told, or is being told; absent where no block was recorded yet
       * @example 20000000
       */
      readonly completeFrom?: number
      /**
       * @description Whether payments from before the window reached their addresses are still looked for
       * @example false
       */
      readonly isLookingBack: boolean
    }
    /** @description Only what fits every part of the filter is told; everything if not given */
    readonly TokenFilter: {
      /**
       * @description Only what the address gets, or only what it pays
       * @enum {string}
       */
      readonly direction?: "incoming" | "outgoing"
      /**
       * @description The least amount, in the unit of the callback's `amount`: whole coins or whole tokens
       * @example 0.5
       */
      readonly minimumAmount?: string
      /**
       * @description Address of the one token contract that is meant
       * @example 0xdAC17F958D2ee523a2206206994597C13D831ec7
       */
      readonly contractAddress?: string
    }
    readonly SubscriptionListItem: {
      /**
       * @description Empty for an event that is not about an address
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly address: string
      /** @example yourSecretString */
      readonly callbackSecretKey?: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /** @description The wanted confirmation, or the last one for an each-confirmation event; 0 where there is none */
      readonly confirmationsCount: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly deactivationReasons?: readonly components["schemas"]["DeactivationReason"][]
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
        | "BROADCAST_TRANSACTION"
      readonly filter?: components["schemas"]["Filter"]
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionId?: string
    }
    readonly BulkDeleted: {
      readonly item?: {
        /**
         * @description Reference id of a subscription
         * @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1
         */
        readonly referenceId: string
      }
      /** @description Why there is no `item` */
      readonly error?: {
        readonly code: string
        readonly message: string
        readonly details?: readonly components["schemas"]["ErrorDetail"][]
      }
    }
    readonly BulkCreated: {
      /** @description The subscription as it was made, without its secret */
      readonly item?: {
        /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
        readonly address?: string
        /** @example https://example.com/callbacks */
        readonly callbackUrl: string
        readonly confirmationsCount?: number
        /**
         * @description Seconds since the Unix epoch
         * @example 1764158400
         */
        readonly createdTimestamp: number
        /** @enum {string} */
        readonly eventType:
          | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
          | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
          | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
          | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
          | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
          | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
          | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
          | "CONTRACT_EVENT"
          | "TRANSACTION_MINED"
          | "BLOCK_MINED"
          | "BLOCK_REVERTED"
        readonly filter?: components["schemas"]["Filter"]
        readonly isActive: boolean
        readonly receiveCallbackOn?: number
        /**
         * @description Reference id of a subscription
         * @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1
         */
        readonly referenceId: string
        /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
        readonly transactionId?: string
      }
      /** @description Why there is no `item` */
      readonly error?: {
        readonly code: string
        readonly message: string
        readonly details?: readonly components["schemas"]["ErrorDetail"][]
      }
    }
    readonly ChangedSubscription: {
      /**
       * @description Empty for an event that is not about an address
       * @example 0x52908400098527886E0F7030069857D2E4169EE7
       */
      readonly address: string
      readonly blockchain: string
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /** @description The wanted confirmation, or the last one for an each-confirmation event; 0 where there is none */
      readonly confirmationsCount: number
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly deactivationReasons?: readonly components["schemas"]["DeactivationReason"][]
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
        | "BROADCAST_TRANSACTION"
      readonly filter?: components["schemas"]["Filter"]
      readonly isActive: boolean
      readonly network: string
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
      /**
       * @description Empty for an event that is not about one transaction
       * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
       */
      readonly transactionId: string
    }
    readonly CreatedBlockSubscription: {
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
    }
    readonly CreatedTransactionSubscription: {
      /** @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b */
      readonly transactionId: string
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
    }
    readonly CreatedConfirmationSubscription: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
      readonly filter?: components["schemas"]["Filter"]
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
      readonly receiveCallbackOn: number
    }
    /** @description Only what fits every part of the filter is told; everything if not given */
    readonly ContractEventFilter: {
      /**
       * @description The one event that is meant, as Solidity declares it or as its object in the contract's ABI: callbacks have the arguments decoded
       * @example event Transfer(address indexed from, address indexed to, uint256 value)
       */
      readonly abi?: string | Record<string, never>
      /**
       * @description As `eth_getLogs` has them: at each place a topic, several of which one has to be there, or null for any
       * @example [
       *       "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
       *     ]
       */
      readonly topics?: readonly (string | readonly string[] | null)[]
    }
    readonly CreatedEachConfirmationSubscription: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
      readonly filter?: components["schemas"]["Filter"]
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
      readonly confirmationsCount: number
    }
    /** @description Only what fits every part of the filter is told; everything if not given */
    readonly CoinFilter: {
      /**
       * @description Only what the address gets, or only what it pays
       * @enum {string}
       */
      readonly direction?: "incoming" | "outgoing"
      /**
       * @description The least amount, in the unit of the callback's `amount`: whole coins or whole tokens
       * @example 0.5
       */
      readonly minimumAmount?: string
    }
    readonly CreatedAddressSubscription: {
      /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
      readonly address: string
      /** @enum {string} */
      readonly eventType:
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
        | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
        | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        | "CONTRACT_EVENT"
        | "TRANSACTION_MINED"
        | "BLOCK_MINED"
        | "BLOCK_REVERTED"
      readonly filter?: components["schemas"]["Filter"]
      /**
       * @description Empty where there is none
       * @example yourSecretString
       */
      readonly callbackSecretKey: string
      /** @example https://example.com/callbacks */
      readonly callbackUrl: string
      /**
       * @description Seconds since the Unix epoch
       * @example 1764158400
       */
      readonly createdTimestamp: number
      readonly isActive: boolean
      /** @example 7c2f8a35-0d3e-4b0e-9c55-3c8ad0f5a9b1 */
      readonly referenceId: string
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: never
  pathItems: never
}

export interface operations {
  readonly "subscriptions.address-tokens-transactions-confirmed": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["TokenFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-tokens-transactions-confirmed-each-confirmation": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /**
               * @description Confirmations up to which callbacks are sent, 1 to 100; 1 if not given
               * @example 3
               */
              readonly confirmationsCount?: number
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              readonly filter?: components["schemas"]["TokenFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedEachConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-coins-transactions-unconfirmed": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              readonly filter?: components["schemas"]["CoinFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedAddressSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-coins-transactions-confirmed": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["CoinFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-coins-transactions-confirmed-each-confirmation": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /**
               * @description Confirmations up to which callbacks are sent, 1 to 100
               * @example 3
               */
              readonly confirmationsCount: number
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              readonly filter?: components["schemas"]["CoinFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedEachConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-internal-transactions-confirmed": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["CoinFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.address-internal-transactions-confirmed-each-confirmation": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /**
               * @description Confirmations up to which callbacks are sent, 1 to 100
               * @example 3
               */
              readonly confirmationsCount: number
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              readonly filter?: components["schemas"]["CoinFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedEachConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.contract-events": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["ContractEventFilter"]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedConfirmationSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.transaction-mined": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Id of the transaction, which may be mined already: 64 hexadecimal characters in any case, with 0x or without
               * @example 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060
               */
              readonly transactionId: string
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedTransactionSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.block-mined": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedBlockSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.block-reverted": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreatedBlockSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["SubscriptionListItem"][]
          }
        }
      }
    }
  }
  readonly "subscriptions.get": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SubscriptionDetails"]
          }
        }
      }
    }
  }
  readonly "subscriptions.delete": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ChangedSubscription"]
          }
        }
      }
    }
  }
  readonly "subscriptions.activate": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ChangedSubscription"]
          }
        }
      }
    }
  }
  readonly "bulk.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 1000; 1000 if not given */
        readonly limit?: number
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["SubscriptionListItem"][]
          }
        }
      }
    }
  }
  readonly "bulk.create": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Any text of the caller's, another one for each request. The same key with the same items is answered the same for seven days, and goes on where an interrupted request broke off; with other items it is refused with 409
               * @example import-2026-11-23-part-1
               */
              readonly idempotencyKey: string
              /**
               * @description 1 to 10000 subscriptions: `eventType`, and the fields that the operation of that event takes. Each has a result of its own, and costs what the operation costs
               * @example [
               *       {
               *         "eventType": "ADDRESS_COINS_TRANSACTION_CONFIRMED",
               *         "address": "0x52908400098527886E0F7030069857D2E4169EE7",
               *         "callbackUrl": "https://example.com/callbacks",
               *         "receiveCallbackOn": 3
               *       }
               *     ]
               */
              readonly items: readonly {
                /**
                 * @description The event, whose operation says which of the fields it takes
                 * @enum {string}
                 */
                readonly eventType:
                  | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
                  | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                  | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
                  | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
                  | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                  | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
                  | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                  | "CONTRACT_EVENT"
                  | "TRANSACTION_MINED"
                  | "BLOCK_MINED"
                  | "BLOCK_REVERTED"
                /**
                 * @description Id of the transaction, which may be mined already: 64 hexadecimal characters in any case, with 0x or without
                 * @example 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060
                 */
                readonly transactionId?: string
                /** @description Whether the account may have the same subscription twice; false if not given */
                readonly allowDuplicates?: boolean
                /**
                 * @description Secret that callbacks are signed with
                 * @example yourSecretString
                 */
                readonly callbackSecretKey?: string
                /**
                 * @description Where callbacks are sent: https, with a DNS name as host
                 * @example https://example.com/callbacks
                 */
                readonly callbackUrl: string
                /**
                 * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
                 * @example 3
                 */
                readonly receiveCallbackOn?: number
                /**
                 * @description Address to watch, in any form that the blockchain knows. An X-address of XRP with a tag stands for that tag alone
                 * @example 0x52908400098527886E0F7030069857D2E4169EE7
                 */
                readonly address?: string
                /**
                 * @description Confirmations up to which callbacks are sent, 1 to 100
                 * @example 3
                 */
                readonly confirmationsCount?: number
                /** @description The filter that the operation of the event takes */
                readonly filter?: components["schemas"]["Filter"]
              }[]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            /** @description A result for each item, in their order */
            readonly items: readonly components["schemas"]["BulkCreated"][]
          }
        }
      }
    }
  }
  readonly "bulk.delete": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description Reference ids of 1 to 10000 subscriptions */
              readonly referenceIds: readonly string[]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            /** @description A result for each item, in their order */
            readonly items: readonly components["schemas"]["BulkDeleted"][]
          }
        }
      }
    }
  }
  readonly "addressLists.create": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description An event of addresses: any but what a contract logs
               * @enum {string}
               */
              readonly eventType:
                | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
                | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
                | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
                | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
                | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["TokenFilter"]
              /**
               * @description Confirmations up to which callbacks are sent, 1 to 100
               * @example 3
               */
              readonly confirmationsCount?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SubscriptionDetails"]
          }
        }
      }
    }
  }
  readonly "addressLists.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 1000; 1000 if not given */
        readonly limit?: number
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly {
              /** @example 0x52908400098527886E0F7030069857D2E4169EE7 */
              readonly address: string
              /** @description Where the address is below the subscription's extended public key */
              readonly derivation?: {
                /**
                 * @description The branch of the wallet
                 * @enum {string}
                 */
                readonly type: "receiving" | "change"
                /** @description The index in the branch */
                readonly index: number
              }
            }[]
          }
        }
      }
    }
  }
  readonly "addressLists.add": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description 1 to 10000 addresses, in any form that the blockchain knows */
              readonly addresses: readonly string[]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Addresses of the request that the list did not have before
               * @example 2
               */
              readonly added: number
              /**
               * @description Addresses of the list after that
               * @example 120000
               */
              readonly total: number
            }
          }
        }
      }
    }
  }
  readonly "addressLists.remove": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description 1 to 10000 addresses, in any form that the blockchain knows */
              readonly addresses: readonly string[]
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Addresses of the request that the list had before
               * @example 2
               */
              readonly removed: number
              /**
               * @description Addresses of the list after that
               * @example 120000
               */
              readonly total: number
            }
          }
        }
      }
    }
  }
  readonly "extendedKeys.create": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description An event of addresses: any but what a contract logs
               * @enum {string}
               */
              readonly eventType:
                | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED"
                | "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                | "ADDRESS_COINS_TRANSACTION_UNCONFIRMED"
                | "ADDRESS_COINS_TRANSACTION_CONFIRMED"
                | "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
                | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED"
                | "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl: string
              /**
               * @description Confirmation on which the callback is wanted, 1 to 100; 1 if not given
               * @example 3
               */
              readonly receiveCallbackOn?: number
              readonly filter?: components["schemas"]["TokenFilter"]
              /**
               * @description Confirmations up to which callbacks are sent, 1 to 100
               * @example 3
               */
              readonly confirmationsCount?: number
              /** @description Whether the account may have the same subscription twice; false if not given */
              readonly allowDuplicates?: boolean
              /**
               * @description Extended public key of the wallet (xpub, ypub, zpub …); this or a descriptor is required
               * @example xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8
               */
              readonly extendedPublicKey?: string
              /**
               * @description Output descriptor of one extended public key in place of it, on UTXO chains: pkh, wpkh, sh(wpkh) or tr of `key/<0;1>/*`, `key/0/*`, `key/1/*` or `key/*`. A checksum is verified
               * @example wpkh([d34db33f/84h/0h/0h]xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8/<0;1>/*)
               */
              readonly descriptor?: string
              /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
              readonly derivation?: string
              /**
               * @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet
               * @example P2WPKH
               */
              readonly format?: string
              /**
               * @description Addresses behind the furthest used one of each branch that are watched, 1 to 1000; 20 if not given
               * @example 20
               */
              readonly window?: number
              /**
               * @description How far the wallet is known to be used by now, by branch: the window begins behind it. What the store has recorded of the past counts as well
               * @example {
               *       "receiving": 41
               *     }
               */
              readonly furthestUsedIndex?: {
                /** @description Index of the last receiving address that was used */
                readonly receiving?: number
                /** @description Index of the last change address that was used */
                readonly change?: number
              }
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SubscriptionDetails"]
          }
        }
      }
    }
  }
  readonly "extendedKeys.get": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ExtendedKeyState"]
          }
        }
      }
    }
  }
  readonly "callbacks.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description The `nextStartingAfter` of the page before, or the number after which to begin; 0 if not given. A place that was known before the server's store was restored, or that is beyond the last number, is refused with 409 */
        readonly startingAfter?: number | string
        /** @description Seconds to wait for callbacks where there are none after `startingAfter` yet; at most 60. Ask for less than a proxy between waits for an answer, which is 60 seconds for many, or it answers 504 */
        readonly wait?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            /** @description The place of the last item */
            readonly nextStartingAfter?: string
            readonly items: readonly components["schemas"]["Callback"][]
          }
        }
      }
    }
  }
  readonly "callbacks.redeliver": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
        /** @description Key of the callback */
        readonly idempotencyKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Callback"]
          }
        }
      }
    }
  }
  readonly "callbacks.recover": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Another URL to which copies are sent, whether or not the subscription is active; its own URL, if not given
               * @example https://example.com/callbacks
               */
              readonly callbackUrl?: string
              /**
               * @description The number of the last callback that is not sent again
               * @example 0
               */
              readonly afterSequence?: number
              /**
               * @description Only callbacks that were made at this time or later, in milliseconds since the Unix epoch
               * @example 1764158400000
               */
              readonly sinceTimestamp?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CallbackRecovery"]
          }
        }
      }
    }
  }
  readonly "callbacks.test": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Callback"]
          }
        }
      }
    }
  }
  readonly "callbacks.rotateSecret": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey: string
              /**
               * @description For how long `webhook-signature` has a signature by the old secret too; a day by default
               * @example 86400
               */
              readonly overlapSeconds?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SubscriptionDetails"]
          }
        }
      }
    }
  }
  readonly "callbacks.status": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SubscriptionStatus"]
          }
        }
      }
    }
  }
  readonly "callbacks.unresolved": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Reference id of the subscription */
        readonly referenceId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UnresolvedEvent"][]
          }
        }
      }
    }
  }
  readonly "feed.read": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description The `nextStartingAfter` of the page before, the `position` of a callback, or `now` for what comes from now on; the oldest callback that is kept, if not given. A place that was known before the server's store was restored, or that is beyond the last one, is refused with 409 */
        readonly startingAfter?: "now" | (number | string)
        /** @description Seconds to wait for callbacks where there are none after `startingAfter` yet; at most 60. Ask for less than a proxy between waits for an answer, which is 60 seconds for many, or it answers 504 */
        readonly wait?: number
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            /** @description The place of the last item */
            readonly nextStartingAfter?: string
            readonly items: readonly components["schemas"]["AccountCallback"][]
            /**
             * @description Callbacks between `startingAfter` and the last item that are kept no longer: they were finished long ago, or their subscription was deleted
             * @example 0
             */
            readonly missed: number
          }
        }
      }
    }
  }
  readonly "domains.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["Domain"][]
          }
        }
      }
    }
  }
  readonly "domains.add": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Host of callback URLs
               * @example example.com
               */
              readonly domain: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Domain"]
          }
        }
      }
    }
  }
  readonly "domains.verify": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Host of callback URLs */
        readonly domain: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Domain"]
          }
        }
      }
    }
  }
  readonly "receivers.list": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["Receiver"][]
          }
        }
      }
    }
  }
  readonly "receivers.recover": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Only subscriptions whose callbacks go to this host; all of the account, if not given
               * @example hooks.example.com
               */
              readonly host?: string
              /**
               * @description Only callbacks that were made at this time or later, in milliseconds since the Unix epoch
               * @example 1764158400000
               */
              readonly sinceTimestamp?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["RecoveredReceivers"]
          }
        }
      }
    }
  }
  readonly "blocks.evmByHash": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the block */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["EvmBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.evmByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["EvmBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.evmLatest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["EvmBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.evmNewest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description How many are wanted, 1 to 50; 10 if not given */
        readonly count?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["EvmBlock"][]
          }
        }
      }
    }
  }
  readonly "blocks.evmTransactionsByHash": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the block */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["EvmTransaction"][]
          }
        }
      }
    }
  }
  readonly "blocks.evmTransactionsByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["EvmTransactionAtHeight"][]
          }
        }
      }
    }
  }
  readonly "blocks.utxoByHash": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the block */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoBlockDetails"]
          }
        }
      }
    }
  }
  readonly "blocks.utxoByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoBlockDetails"]
          }
        }
      }
    }
  }
  readonly "blocks.utxoLatest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.utxoNewest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description How many are wanted, 1 to 50; 10 if not given */
        readonly count?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["NewestUtxoBlock"][]
          }
        }
      }
    }
  }
  readonly "blocks.utxoTransactionsByHash": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the block */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UtxoTransaction"][]
          }
        }
      }
    }
  }
  readonly "blocks.utxoTransactionsByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UtxoTransaction"][]
          }
        }
      }
    }
  }
  readonly "blocks.xrpByHash": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the ledger */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["XrpBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.xrpByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["XrpBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.xrpLatest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["XrpBlock"]
          }
        }
      }
    }
  }
  readonly "blocks.xrpNewest": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description How many are wanted, 1 to 50; 10 if not given */
        readonly count?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["XrpBlock"][]
          }
        }
      }
    }
  }
  readonly "blocks.xrpTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the ledger */
        readonly blockHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["XrpTransaction"][]
          }
        }
      }
    }
  }
  readonly "blocks.xrpTransactionsByHeight": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Height of the block */
        readonly blockHeight: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["XrpTransaction"][]
          }
        }
      }
    }
  }
  readonly "transactions.evmTransaction": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SingleEvmTransaction"]
          }
        }
      }
    }
  }
  readonly "transactions.evmInternal": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["InternalTransfer"][]
          }
        }
      }
    }
  }
  readonly "transactions.evmTokens": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["TokenMove"][]
          }
        }
      }
    }
  }
  readonly "transactions.logs": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["Log"][]
          }
        }
      }
    }
  }
  readonly "transactions.prepare": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description The same as `type` in the body, which is read first */
        readonly type?: "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Text that the transaction carries as its data, in UTF-8, for everybody to read. Hexadecimal digits are text too: no contract is called by them. On tron at most 512 bytes
               * @example invoice 4711
               */
              readonly additionalData?: string
              /**
               * @description Amount in whole coins
               * @example 0.25
               */
              readonly amount: string
              /**
               * @description The sender's next one if not given, behind the transactions of the sender that wait for a block; that of one of these prepares what takes its place. Tron has no nonces
               * @example 7
               */
              readonly nonce?: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /**
               * @description Keeps the nonce for this transaction for a while (`reservationSeconds`), with what it may cost and the tokens that it moves: none that is prepared with `reserve` meanwhile gets the nonce, and those with other nonces have that much less to spend. One that the request names is kept where it is kept already, for this transaction in place of the other. Without `reserve` the nonce is the next one of the chain, however often one is prepared. Tron has no nonces
               * @example false
               */
              readonly reserve?: boolean
              /** @description Address that pays amount and fee, and whose key is to sign */
              readonly sender: string
              /** @description What the sender offers for the transaction. Required except on tron */
              readonly fee?: {
                /** @description The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`). On tron refused */
                readonly exactAmount?: string
                /**
                 * @description How soon the transaction is to be mined, by what others pay at present; the same fee for all on tron
                 * @enum {string}
                 */
                readonly priority: "slow" | "standard" | "fast"
                /** @description The same as `substractFromAmount` beside `fee`, which is read first */
                readonly substractFromAmount?: boolean
              }
              /** @description Whether the fee is taken out of `amount`, so that the sender pays no more than that; false if not given */
              readonly substractFromAmount?: boolean
              /**
               * @description By default gas-fee-market-transaction where the chain has EIP-1559, else legacy-transaction; on tron refused
               * @enum {string}
               */
              readonly type?: "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedTransaction"]
          }
        }
      }
    }
  }
  readonly "transactions.utxoTransaction": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Id of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoTransaction"]
          }
        }
      }
    }
  }
  readonly "transactions.utxoRaw": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Id of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description As it stands in its block
               * @example 0200000001
               */
              readonly transactionHex: string
            }
          }
        }
      }
    }
  }
  readonly "transactions.xrpTransaction": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Hash of the transaction */
        readonly transactionHash: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["XrpTransactionDetails"]
          }
        }
      }
    }
  }
  readonly "tokenPreparation.prepareFungible": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Amount in whole tokens, by the contract's decimals
               * @example 2.5
               */
              readonly amount: string
              /**
               * @description Address of the token's contract
               * @example 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
               */
              readonly contract: string
              /**
               * @description The sender's next one if not given, behind the transactions of the sender that wait for a block; that of one of these prepares what takes its place. Tron has no nonces
               * @example 7
               */
              readonly nonce?: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /**
               * @description Keeps the nonce for this transaction for a while (`reservationSeconds`), with what it may cost and the tokens that it moves: none that is prepared with `reserve` meanwhile gets the nonce, and those with other nonces have that much less to spend. One that the request names is kept where it is kept already, for this transaction in place of the other. Without `reserve` the nonce is the next one of the chain, however often one is prepared. Tron has no nonces
               * @example false
               */
              readonly reserve?: boolean
              /** @description Address that pays amount and fee, and whose key is to sign */
              readonly sender: string
              /** @description What the sender offers for the transaction, in the chain's coins */
              readonly fee: {
                /**
                 * @description The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`). On tron refused
                 * @example 900000000000000
                 */
                readonly exactAmount?: string
                /**
                 * @description How soon the transaction is to be mined, by what others pay at present; the same fee for all on tron
                 * @enum {string}
                 */
                readonly priority: "slow" | "standard" | "fast"
              }
              /**
               * @description By default gas-fee-market-transaction where the chain has EIP-1559, else legacy-transaction; on tron refused
               * @enum {string}
               */
              readonly type?: "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedTokenTransfer"]
          }
        }
      }
    }
  }
  readonly "tokenPreparation.prepareNonFungible": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address of the token's contract
               * @example 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
               */
              readonly contract: string
              /**
               * @description The sender's next one if not given, behind the transactions of the sender that wait for a block; that of one of these prepares what takes its place. Tron has no nonces
               * @example 7
               */
              readonly nonce?: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /**
               * @description Keeps the nonce for this transaction for a while (`reservationSeconds`), with what it may cost and the tokens that it moves: none that is prepared with `reserve` meanwhile gets the nonce, and those with other nonces have that much less to spend. One that the request names is kept where it is kept already, for this transaction in place of the other. Without `reserve` the nonce is the next one of the chain, however often one is prepared. Tron has no nonces
               * @example false
               */
              readonly reserve?: boolean
              /** @description Address that pays amount and fee, and whose key is to sign */
              readonly sender: string
              /** @description What the sender offers for the transaction, in the chain's coins */
              readonly fee: {
                /**
                 * @description The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`). On tron refused
                 * @example 900000000000000
                 */
                readonly exactAmount?: string
                /**
                 * @description How soon the transaction is to be mined, by what others pay at present; the same fee for all on tron
                 * @enum {string}
                 */
                readonly priority: "slow" | "standard" | "fast"
              }
              /**
               * @description By default gas-fee-market-transaction where the chain has EIP-1559, else legacy-transaction; on tron refused
               * @enum {string}
               */
              readonly type?: "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"
              /**
               * @description Id of the token that is moved, in decimal digits
               * @example 4711
               */
              readonly tokenId: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedTokenTransfer"]
          }
        }
      }
    }
  }
  readonly "xrpPreparation.preparePayment": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description A memo of the payment: at most 1,019 bytes of UTF-8
               * @example invoice 4711
               */
              readonly additionalData?: string
              /**
               * @description Amount in XRP
               * @example 25.5
               */
              readonly amount: string
              /**
               * @description Whom the recipient is to credit; an X-address as `recipient` may have the tag instead
               * @example 4711
               */
              readonly destinationTag?: number
              /** @description What the sender offers for the payment; `standard` if not given */
              readonly fee?: {
                /**
                 * @description The whole fee in drops, before `priority`; at most what may be broadcast (`maximumFee`)
                 * @example 12
                 */
                readonly exactAmount?: string
                /**
                 * @description How soon the payment is to be validated, by what the open ledger asks; `standard` if not given
                 * @enum {string}
                 */
                readonly priority?: "slow" | "standard" | "fast"
              }
              /**
               * @description The key that will sign: a part of what is signed
               * @example 0330E7FC9D56BB25D6893BA3F317AE5BCF33B3291BD63DB32654A313222F7FD020
               */
              readonly publicKey: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /**
               * @description Whether the sequence is kept for this payment for about as long as it may be validated (`reservedUntil`), so that no other one is prepared with it: it is if nothing is said. With `true` what the payment costs is kept as well, and those with other sequences have that much less to spend
               * @example true
               */
              readonly reserve?: boolean
              /** @description Address that pays amount and fee, and whose key is to sign */
              readonly sender: string
              /**
               * @description The next available one if not given
               * @example 71550321
               */
              readonly sequence?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedPayment"]
          }
        }
      }
    }
  }
  readonly "simulation.simulate": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Amount in whole coins
               * @example 0.25
               */
              readonly amount: string
              /**
               * @description Gas that the transaction may use at most
               * @example 65000
               */
              readonly gasLimit: number
              /**
               * @description Price of a legacy transaction, in Wei for a unit of gas
               * @example 31000000000
               */
              readonly gasPrice?: string
              /**
               * @description Data of the transaction: the call of a contract
               * @example 0x
               */
              readonly inputData?: string
              /**
               * @description Highest price, base fee included, in Wei for a unit of gas
               * @example 31000000000
               */
              readonly maxFeePerGas?: string
              /**
               * @description Highest price beside the base fee, in Wei for a unit of gas
               * @example 31000000000
               */
              readonly maxPriorityFeePerGas?: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /** @description Address that pays amount and fee; nothing is signed */
              readonly sender: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SimulatedTransaction"]
          }
        }
      }
    }
  }
  readonly "fees.marketFees": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["MarketFees"]
          }
        }
      }
    }
  }
  readonly "fees.gasPrices": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /** @example 0.00001 */
              readonly fast: string
              /** @example 0.00001 */
              readonly slow: string
              /** @example 0.00001 */
              readonly standard: string
              /** @example ETH */
              readonly unit: string
              /**
               * @description On tron: sun for a point of bandwidth; the others are sun for a unit of energy
               * @example 1000
               */
              readonly bandwidthPrice?: string
            }
          }
        }
      }
    }
  }
  readonly "fees.nativeGas": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Text that the transaction carries as its data, in UTF-8, for everybody to read. Hexadecimal digits are text too: no contract is called by them. On tron at most 512 bytes
               * @example invoice 4711
               */
              readonly additionalData?: string
              /**
               * @description Amount in whole coins
               * @example 0.25
               */
              readonly amount: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /** @description Address that pays the amount; nothing is signed */
              readonly sender: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["GasLimit"]
          }
        }
      }
    }
  }
  readonly "fees.tokenGas": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Amount in whole tokens; of ERC-721 the token's id
               * @example 2.5
               */
              readonly amount: string
              /**
               * @description Address of the token's contract
               * @example 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
               */
              readonly contract: string
              /**
               * @description Standard of the token: ERC-20 or ERC-721
               * @example ERC-20
               */
              readonly contractType: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /** @description Address that pays the amount; nothing is signed */
              readonly sender: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["GasLimit"]
          }
        }
      }
    }
  }
  readonly "fees.utxoFees": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /** @example 0.00001 */
              readonly fast: string
              /** @example 0.00001 */
              readonly slow: string
              /** @example 0.00001 */
              readonly standard: string
              /** @example ETH */
              readonly unit: string
            }
          }
        }
      }
    }
  }
  readonly "fees.smartFee": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Blocks within which the transaction is to be mined; 6 if not given */
        readonly confirmationTarget?: number
        /** @description `conservative` if not given */
        readonly estimateMode?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Blocks that the estimate is for
               * @example 6
               */
              readonly confirmationTarget: number
              /**
               * @description Coins for 1,000 virtual bytes
               * @example 0.00012345
               */
              readonly feeRate: string
              /** @example ETH */
              readonly unit: string
            }
          }
        }
      }
    }
  }
  readonly "fees.ledgerFees": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /** @example 0.00001 */
              readonly fast: string
              /** @example 0.00001 */
              readonly slow: string
              /** @example 0.00001 */
              readonly standard: string
              /** @example ETH */
              readonly unit: string
              /**
               * @description By which `fast` is above `standard`, for an open ledger that fills up meanwhile
               * @example 1.2
               */
              readonly feeCushionMultiplier: string
            }
          }
        }
      }
    }
  }
  readonly "nextNonce.nextNonce": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address of the sender */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Behind the transactions that wait for a block
               * @example 7
               */
              readonly nextAvailableNonce: number
            }
          }
        }
      }
    }
  }
  readonly "nextNonce.nextSequence": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address of the account */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Behind the transactions that wait for a ledger
               * @example 71550321
               */
              readonly nextAvailableSequence: number
            }
          }
        }
      }
    }
  }
  readonly "balances.evmBalance": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Balance"]
          }
        }
      }
    }
  }
  readonly "balances.xrpBalance": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Balance"]
          }
        }
      }
    }
  }
  readonly "balances.tokenDetails": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address of the token's contract */
        readonly contractAddress: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["TokenDetails"]
          }
        }
      }
    }
  }
  readonly "broadcasts.broadcast": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Secret that callbacks are signed with
               * @example yourSecretString
               */
              readonly callbackSecretKey?: string
              /**
               * @description Where callbacks are sent: https, with a DNS name as host
               * @example https://example.com/callbacks
               */
              readonly callbackUrl?: string
              /**
               * @description The signed transaction as the chain serialises it, with or without `0x`
               * @example 0x02f8730107843b9aca00850737be76008252089452908400098527886e0f7030069857d2e4169ee78803782dace9d9000080c080a01848058a9760ed57a536e7083a4b34c32a9073043b90fce77417ffee81c0b1bea06a8f8957221496c422ce4b0f11bc7061fed44fea100ae9ebd37cd672760f4e3a
               */
              readonly signedTransactionHex: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description The transaction's id, on an account chain its hash
               * @example 0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b
               */
              readonly transactionId: string
            }
          }
        }
      }
    }
  }
  readonly "broadcasts.broadcastOutcome": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Id of a transaction that the account has broadcast */
        readonly transactionId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["BroadcastOutcome"]
          }
        }
      }
    }
  }
  readonly "addresses.internalTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["InternalTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "addresses.tokensTransfers": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["TokenTransfer"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "addresses.syncedAddresses": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["SyncedAddress"][]
          }
        }
      }
    }
  }
  readonly "addresses.syncAddress": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /** @description Address, in any form that the blockchain knows */
              readonly address: string
              /**
               * @description Kept and answered; nothing is sent there: `syncStatus` says when the past has been read
               * @example https://example.com/callbacks
               */
              readonly callbackUrl?: string
              /**
               * @description The block from which on token transfers are read; by default the first one that this server has recorded. Not on chains where what there is already is found without it: those of coins, and the XRP Ledger
               * @example 20000000
               */
              readonly birthHeight?: number
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["NewSyncedAddress"]
          }
        }
      }
    }
  }
  readonly "addresses.deactivateSyncedAddress": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedAddressState"]
          }
        }
      }
    }
  }
  readonly "addresses.activateSyncedAddress": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedAddressState"]
          }
        }
      }
    }
  }
  readonly "addressHistory.evmLatestTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["EvmTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmLatestTokens": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["TokenTransferWithDecimals"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["EvmAddressTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmTransactionsSince": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
        /** @description Seconds since the Unix epoch: what is in blocks of that moment and later ones is listed */
        readonly timestamp: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["EvmAddressTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmInternalHistory": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["InternalTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmInternalOfAddress": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["InternalTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.evmHeldTokens": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["HeldToken"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoLatestTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["UtxoTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoUnconfirmed": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UtxoTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoLatestBalance": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoBalance"]
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoBalance": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["UtxoBalance"]
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["UtxoAddressTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoTransactionsSince": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
        /** @description Seconds since the Unix epoch: what is in blocks of that moment and later ones is listed */
        readonly timestamp: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["UtxoAddressTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.utxoUnspent": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UnspentOutput"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "addressHistory.xrpAddressTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
        /** @description Type of the transactions that are wanted, in any letter case */
        readonly transactionType?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address, in any form that the blockchain knows */
        readonly address: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["XrpAddressTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "hdWallets.evmAssets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["EvmHdWalletAssets"]
          }
        }
      }
    }
  }
  readonly "hdWallets.evmPrepare": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Text that the transaction carries as its data, in UTF-8, for everybody to read. Hexadecimal digits are text too: no contract is called by them. On tron at most 512 bytes
               * @example invoice 4711
               */
              readonly additionalData?: string
              /**
               * @description Amount in whole coins
               * @example 0.25
               */
              readonly amount: string
              /**
               * @description The sender's next one if not given, behind the transactions of the sender that wait for a block; that of one of these prepares what takes its place. Tron has no nonces
               * @example 7
               */
              readonly nonce?: string
              /** @description Address that is paid, in any form that the blockchain knows */
              readonly recipient: string
              /**
               * @description Keeps the nonce for this transaction for a while (`reservationSeconds`), with what it may cost and the tokens that it moves: none that is prepared with `reserve` meanwhile gets the nonce, and those with other nonces have that much less to spend. One that the request names is kept where it is kept already, for this transaction in place of the other. Without `reserve` the nonce is the next one of the chain, however often one is prepared. Tron has no nonces
               * @example false
               */
              readonly reserve?: boolean
              /**
               * @description The address of the wallet that pays
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly sender: string
              /** @description What the sender offers for the transaction */
              readonly fee: {
                /**
                 * @description The whole fee in Wei, before `priority`; at most what may be broadcast (`maximumFee`)
                 * @example 0.25
                 */
                readonly exactAmount?: string
                /**
                 * @description How soon the transaction is to be mined, by what others pay at present, `standard` if not given; the same fee for all on tron
                 * @enum {string}
                 */
                readonly priority?: "slow" | "standard" | "fast"
              }
              /**
               * @description By default gas-fee-market-transaction where the chain has EIP-1559, else legacy-transaction; on tron refused
               * @enum {string}
               */
              readonly transactionType?: "legacy-transaction" | "access-list-transaction" | "gas-fee-market-transaction"
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedWalletTransaction"]
          }
        }
      }
    }
  }
  readonly "hdWallets.utxoAssets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletBalance"]
          }
        }
      }
    }
  }
  readonly "hdWallets.utxoStatus": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletStatus"]
          }
        }
      }
    }
  }
  readonly "hdWallets.xrpAssets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletBalance"]
          }
        }
      }
    }
  }
  readonly "hdWallets.utxoDerive": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: {
              /**
               * @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet
               * @example P2WPKH
               */
              readonly format?: string
            }
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["DerivedAddress"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "hdWallets.utxoPrepare": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Text that an output of its own (`OP_RETURN`) makes public for ever: at most 80 bytes
               * @example invoice 4711
               */
              readonly additionalData?: string
              /**
               * @description The transaction is not mined before this height, or this time from 500,000,000 on; 0 if not given
               * @example 0
               */
              readonly locktime?: number
              /** @description What is paid for the transaction, and where the change goes */
              readonly fee: {
                /**
                 * @description Where the change goes, an address of the wallet; by default its next unused change address, and where the wallet has none of these (`bip32`) the address of the largest coin that is spent: unused ones may have been given out
                 * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
                 */
                readonly address?: string
                /**
                 * @description The whole fee in coins, before `priority`; change that would be dust is added to it. At most what may be broadcast
                 * @example 0.00001
                 */
                readonly exactAmount?: string
                /**
                 * @description By the node's estimate for 24, 6 or 2 blocks, else by what waits in its mempool; `standard` if not given. On zcash all are ZIP-317's fee, by what the node says that an action costs
                 * @enum {string}
                 */
                readonly priority?: "slow" | "standard" | "fast"
              }
              /**
               * @description A transaction that waits for a block and pays the wallet, its own change or not: its largest such output is spent, though it is not mined yet, and the fee is raised by what it and all that it waits for pay below the rate (child pays for parent). With `exactAmount` the fee is that
               * @example 8a6f0d7f3b0f4d0a3d0c1f0e7a9b5c2d4e6f8a0b1c3d5e7f9a0b2c4d6e8f0a1b
               */
              readonly parentTransactionId?: string
              /**
               * @description By default the coins that waste least, by Bitcoin Core's metric. `minimize-dust`: small coins beside those while fees are low; `optimize-size`: the fewest inputs; `none`: the oldest coins first
               * @enum {string}
               */
              readonly prepareStrategy?: "none" | "minimize-dust" | "optimize-size"
              /** @description Who is paid, an output each, in this order */
              readonly recipients: readonly {
                /**
                 * @description Address that is paid, in any form that the blockchain knows
                 * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
                 */
                readonly address: string
                /**
                 * @description In coins
                 * @example 0.25
                 */
                readonly amount: string
              }[]
              /** @description Whether one that pays more may replace the transaction (BIP-125); by default as the chain's nodes allow it */
              readonly replaceable?: boolean
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["PreparedUtxoTransaction"]
          }
        }
      }
    }
  }
  readonly "hdWallets.xrpDerive": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: {
              /**
               * @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet
               * @example P2WPKH
               */
              readonly format?: string
            }
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["DerivedAddress"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "hdWallets.syncedWallets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["SyncedWallet"][]
          }
        }
      }
    }
  }
  readonly "hdWallets.syncWallet": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: {
              /**
               * @description The block from which on token transfers are read; by default the first one that this server has recorded. Not on chains where what there is already is found without it: those of coins, and the XRP Ledger
               * @example 20000000
               */
              readonly birthHeight?: number
            }
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedWalletKey"]
          }
        }
      }
    }
  }
  readonly "hdWallets.deactivateSyncedWallet": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedWalletKey"]
          }
        }
      }
    }
  }
  readonly "hdWallets.activateSyncedWallet": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: unknown
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedWalletState"]
          }
        }
      }
    }
  }
  readonly "hdWalletDetails.evmDetails": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletDetails"]
          }
        }
      }
    }
  }
  readonly "hdWalletDetails.utxoDetails": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletDetails"]
          }
        }
      }
    }
  }
  readonly "hdWalletDetails.xrpDetails": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["HdWalletDetails"]
          }
        }
      }
    }
  }
  readonly "hdWalletLists.evmWalletAddresses": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has; as `format` elsewhere */
        readonly addressFormat?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Whether addresses for change are listed, or receiving ones; true if not given */
        readonly isChangeAddress?: boolean
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["HdAddress"][]
          }
        }
      }
    }
  }
  readonly "hdWalletLists.utxoWalletAddresses": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has; as `format` elsewhere */
        readonly addressFormat?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Whether addresses for change are listed, or receiving ones; true if not given */
        readonly isChangeAddress?: boolean
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["HdAddress"][]
          }
        }
      }
    }
  }
  readonly "hdWalletLists.xrpWalletAddresses": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has; as `format` elsewhere */
        readonly addressFormat?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Whether addresses for change are listed, or receiving ones; false if not given */
        readonly isChangeAddress?: boolean
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["HdAddress"][]
          }
        }
      }
    }
  }
  readonly "hdWalletLists.evmWalletTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["EvmHdWalletTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "hdWalletLists.utxoWalletTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["UtxoHdWalletTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "hdWalletLists.xrpWalletTransactions": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["XrpHdWalletTransaction"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "hdWalletLists.utxoWalletOutputs": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["HdWalletOutput"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
            /**
             * @description `record`: what this server has recorded; `node`: what the chain's node has, recorded or not
             * @example record
             * @enum {string}
             */
            readonly answeredFrom?: "record" | "node"
          }
        }
      }
    }
  }
  readonly "hdWalletLists.utxoDeriveChange": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: {
              /**
               * @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet
               * @example P2WPKH
               */
              readonly format?: string
            }
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["DerivedAddress"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "hdWalletLists.evmDerive": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data?: {
            readonly item?: {
              /**
               * @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet
               * @example P2WPKH
               */
              readonly format?: string
            }
          }
        } | null
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["DerivedAddress"][]
            /**
             * @description Height of the block from which on the list is whole; earlier items may be missing. Absent where none is
             * @example 20000000
             */
            readonly completeFrom?: number
          }
        }
      }
    }
  }
  readonly "hdWalletLists.walletStatus": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description `account` (m/0/i and m/1/i, the default) or `bip32` (m/i) */
        readonly derivation?: "account" | "bip32"
        /** @description Form of the wallet's addresses, one that the chain has: by default the form that the key's version says (ypub, zpub …), else P2WPKH where the chain has it. The same key in another form is another wallet */
        readonly format?: "P2PKH" | "P2SH-P2WPKH" | "P2WPKH" | "P2TR" | "STANDARD" | "CLASSIC"
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["SyncedWalletStatus"]
          }
        }
      }
    }
  }
  readonly "addressForms.evmValidate": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address, in any form that the blockchain knows
               * @example 0x52908400098527886E0F7030069857D2E4169EE7
               */
              readonly address: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ValidatedAddress"]
          }
        }
      }
    }
  }
  readonly "addressForms.utxoValidate": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address, in any form that the blockchain knows
               * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
               */
              readonly address: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ValidatedAddress"]
          }
        }
      }
    }
  }
  readonly "addressForms.xrpValidate": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address, in any form that the blockchain knows
               * @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf
               */
              readonly address: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ValidatedAddress"]
          }
        }
      }
    }
  }
  readonly "addressForms.convert": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description Address, in any form that the blockchain knows
               * @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4
               */
              readonly address: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /** @example bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 */
              readonly convertedAddress: string
            }
          }
        }
      }
    }
  }
  readonly "addressForms.decodeX": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address of one user of the account (XLS-5) */
        readonly xAddress: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Absent where the X-address has no tag
               * @example 1
               */
              readonly addressTag?: number
              /**
               * @description Address of the account
               * @example rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf
               */
              readonly classicAddress: string
            }
          }
        }
      }
    }
  }
  readonly "addressForms.encodeX": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Address of the account */
        readonly classicAddress: string
        /** @description Tag of the user: a number of 32 bits */
        readonly addressTag: number
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: {
              /**
               * @description Address of one user of the account (XLS-5)
               * @example XVLhHMPHU98es4dbozjVtdWzVrDjtV8xvjGQTYPiAx6gwDC
               */
              readonly xAddress: string
            }
          }
        }
      }
    }
  }
  readonly "addressForms.derive": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description By default what the key's version says, else the chain's usual form; `p2sh` is P2SH-P2WPKH. On Bitcoin Cash `p2pkh` and `p2sh` are in legacy text, `p2pkh-cash` and `p2sh-cash` CashAddr */
        readonly addressFormat?: string
        /** @description How many addresses, at most 100; 10 if not given */
        readonly addressesCount?: number
        /** @description Change addresses (m/1/i) in place of m/0/i; false if not given */
        readonly isChange?: boolean
        /** @description Index of the first address; 0 if not given */
        readonly startIndex?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
        /** @description Extended public key of the account (xpub, ypub, zpub …) */
        readonly extendedPublicKey: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["DerivedAddresses"]
          }
        }
      }
    }
  }
  readonly "rawTransactions.evmDecode": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description The transaction in its wire format, in hexadecimal with or without `0x`
               * @example 0x02f8730107843b9aca00850737be76008252089452908400098527886e0f7030069857d2e4169ee78803782dace9d9000080c080a01848058a9760ed57a536e7083a4b34c32a9073043b90fce77417ffee81c0b1bea06a8f8957221496c422ce4b0f11bc7061fed44fea100ae9ebd37cd672760f4e3a
               */
              readonly rawTransactionHex: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["DecodedEvmTransaction"]
          }
        }
      }
    }
  }
  readonly "rawTransactions.utxoDecode": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Name of the blockchain */
        readonly blockchain: string
        /** @description Network of the blockchain */
        readonly network: string
      }
      readonly cookie?: never
    }
    readonly requestBody: {
      readonly content: {
        readonly "application/json": {
          /**
           * @description Any text of the caller's, echoed in the answer
           * @example invoice-4711
           */
          readonly context?: string
          readonly data: {
            readonly item: {
              /**
               * @description The transaction in its wire format, in hexadecimal with or without `0x`
               * @example 0x02f8730107843b9aca00850737be76008252089452908400098527886e0f7030069857d2e4169ee78803782dace9d9000080c080a01848058a9760ed57a536e7083a4b34c32a9073043b90fce77417ffee81c0b1bea06a8f8957221496c422ce4b0f11bc7061fed44fea100ae9ebd37cd672760f4e3a
               */
              readonly rawTransactionHex: string
            }
          }
        }
      }
    }
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["DecodedUtxoTransaction"]
          }
        }
      }
    }
  }
  readonly "marketData.assetById": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Id of the asset */
        readonly assetId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Asset"]
          }
        }
      }
    }
  }
  readonly "marketData.assetBySymbol": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Unique symbol in the listing, in any letter case */
        readonly assetSymbol: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["AssetBySymbol"]
          }
        }
      }
    }
  }
  readonly "marketData.assetBySlug": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path: {
        /** @description Unique slug in the listing */
        readonly assetSlug: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["Asset"]
          }
        }
      }
    }
  }
  readonly "marketData.assets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["ListedAsset"][]
          }
        }
      }
    }
  }
  readonly "marketData.supportedAssets": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 10 if not given */
        readonly limit?: number
        /** @description Items to skip; 0 if not given. Where items before a page go or come meanwhile, as many are passed over or come twice; in a list by a cursor none is */
        readonly offset?: number
        /** @description Assets of this type alone */
        readonly type?: "crypto" | "fiat"
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly offset: number
            /** @description Items on all pages */
            readonly total: number
            readonly items: readonly components["schemas"]["SupportedAsset"][]
          }
        }
      }
    }
  }
  readonly "marketData.rateById": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description The moment, in seconds since the Unix epoch, 30 days ago at most; the newest rates if not given */
        readonly calculationTimestamp?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Id of the asset that is sold */
        readonly fromAssetId: string
        /** @description Id of the asset that it costs */
        readonly toAssetId: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ExchangeRate"]
          }
        }
      }
    }
  }
  readonly "marketData.rateBySymbol": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description The moment, in seconds since the Unix epoch, 30 days ago at most; the newest rates if not given */
        readonly calculationTimestamp?: number
      }
      readonly header?: never
      readonly path: {
        /** @description Symbol of the asset that is sold, in any letter case */
        readonly fromAssetSymbol: string
        /** @description Symbol of the asset that it costs, in any letter case */
        readonly toAssetSymbol: string
      }
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["ExchangeRate"]
          }
        }
      }
    }
  }
  readonly "credits.balance": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["CreditBalance"]
          }
        }
      }
    }
  }
  readonly "credits.statement": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
        /** @description Largest number of items, 1 to 50; 50 if not given */
        readonly limit?: number
        /** @description ASCENDING or DESCENDING by time, in any letter case; DESCENDING if not given */
        readonly sortingOrder?: "ASCENDING" | "DESCENDING"
        /** @description The `nextStartingAfter` of the page before */
        readonly startingAfter?: string
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly limit: number
            readonly startingAfter?: string
            readonly hasMore: boolean
            readonly nextStartingAfter?: string
            /** @enum {string} */
            readonly sortingOrder?: "ASCENDING" | "DESCENDING"
            readonly items: readonly components["schemas"]["CreditEntry"][]
          }
        }
      }
    }
  }
  readonly "limits.get": {
    readonly parameters: {
      readonly query?: {
        /** @description Any text of the caller's, echoed in the answer */
        readonly context?: string
      }
      readonly header?: never
      readonly path?: never
      readonly cookie?: never
    }
    readonly requestBody?: never
    readonly responses: {
      readonly 200: {
        headers: {
          readonly [name: string]: unknown
        }
        content: {
          readonly "application/json": {
            readonly item: components["schemas"]["AccountLimits"]
          }
        }
      }
    }
  }
}
