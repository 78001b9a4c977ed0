/**
 * The numbers by which rippled writes fields, types of transactions and ledger entries, and results into a ledger.
 *
 * Source: rippled's `sfields.macro`, `transactions.macro`, `ledger_entries.macro` and `TER.h`, as the definitions of
 * ripple-binary-codec 2.11 have them. An amendment that adds to them is unknown here until they are added.
 */

const numbers = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .trim()
      .split(/\s+/)
      .map((entry) => {
        const [name = "", number] = entry.split(":")
        return [name, Number(number)]
      })
  )

/** Codes of the types whose text form has one binary form. `Number` is left out: its text does not tell its digits. */
const typeCodes = {
  UInt16: 1,
  UInt32: 2,
  UInt64: 3,
  Hash128: 4,
  Hash256: 5,
  Amount: 6,
  Blob: 7,
  AccountID: 8,
  Int32: 10,
  STObject: 14,
  STArray: 15,
  UInt8: 16,
  Hash160: 17,
  PathSet: 18,
  Vector256: 19,
  Hash192: 21,
  Issue: 24,
  XChainBridge: 25,
  Currency: 26
} as const

export type FieldType = keyof typeof typeCodes

const fieldsOfType: Readonly<Record<FieldType, string>> = {
  UInt16: `
    LedgerEntryType:1 TransactionType:2 SignerWeight:3 TransferFee:4 TradingFee:5 DiscountedFee:6 Version:16
    LedgerFixType:21 ManagementFeeRate:22`,
  UInt32: `
    NetworkID:1 Flags:2 SourceTag:3 Sequence:4 PreviousTxnLgrSeq:5 LedgerSequence:6 CloseTime:7 ParentCloseTime:8
    SigningTime:9 Expiration:10 TransferRate:11 WalletSize:12 OwnerCount:13 DestinationTag:14 LastUpdateTime:15
    HighQualityIn:16 HighQualityOut:17 LowQualityIn:18 LowQualityOut:19 QualityIn:20 QualityOut:21 StampEscrow:22
    BondAmount:23 LoadFee:24 OfferSequence:25 FirstLedgerSequence:26 LastLedgerSequence:27 TransactionIndex:28
    OperationLimit:29 ReferenceFeeUnits:30 ReserveBase:31 ReserveIncrement:32 SetFlag:33 ClearFlag:34
    SignerQuorum:35 CancelAfter:36 FinishAfter:37 SignerListID:38 SettleDelay:39 TicketCount:40 TicketSequence:41
    NFTokenTaxon:42 MintedNFTokens:43 BurnedNFTokens:44 VoteWeight:48 FirstNFTokenSequence:50 OracleDocumentID:51
    PermissionValue:52 ImmutableFlags:53 StartDate:54 PaymentInterval:55 GracePeriod:56 PreviousPaymentDueDate:57
    NextPaymentDueDate:58 PaymentRemaining:59 PaymentTotal:60 LoanSequence:61 CoverRateMinimum:62
    CoverRateLiquidation:63 OverpaymentFee:64 InterestRate:65 LateInterestRate:66 CloseInterestRate:67
    OverpaymentInterestRate:68 ConfidentialBalanceVersion:69 SponsoredOwnerCount:70 SponsoringOwnerCount:71
    SponsoringAccountCount:72 RemainingOwnerCount:73 SponsorFlags:74 SubscriptionDate:75 RedemptionDate:76
    IssuerKeyEpoch:77 AuditorKeyEpoch:78 IssuerKeyMirrorEpoch:79 AuditorKeyMirrorEpoch:80`,
  UInt64: `
    IndexNext:1 IndexPrevious:2 BookNode:3 OwnerNode:4 BaseFee:5 ExchangeRate:6 LowNode:7 HighNode:8
    DestinationNode:9 Cookie:10 ServerVersion:11 NFTokenOfferNode:12 EmitBurden:13 ReferenceCount:19
    XChainClaimID:20 XChainAccountCreateCount:21 XChainAccountClaimCount:22 AssetPrice:23 MaximumAmount:24
    OutstandingAmount:25 MPTAmount:26 IssuerNode:27 SubjectNode:28 LockedAmount:29 VaultNode:30 LoanBrokerNode:31
    ConfidentialOutstandingAmount:32 SponseeNode:33`,
  Hash128: `
    EmailHash:1`,
  Hash256: `
    LedgerHash:1 ParentHash:2 TransactionHash:3 AccountHash:4 PreviousTxnID:5 LedgerIndex:6 WalletLocator:7
    RootIndex:8 AccountTxnID:9 NFTokenID:10 EmitParentTxnID:11 EmitNonce:12 EmitHookHash:13 AMMID:14
    BookDirectory:16 InvoiceID:17 Nickname:18 Amendment:19 Digest:21 Channel:22 ConsensusHash:23 CheckID:24
    ValidatedHash:25 PreviousPageMin:26 NextPageMin:27 NFTokenBuyOffer:28 NFTokenSellOffer:29 DomainID:34 VaultID:35
    ParentBatchID:36 LoanBrokerID:37 LoanID:38 ReferenceHolding:39 BlindingFactor:40 ObjectID:41`,
  Amount: `
    Amount:1 Balance:2 LimitAmount:3 TakerPays:4 TakerGets:5 LowLimit:6 HighLimit:7 Fee:8 SendMax:9 DeliverMin:10
    Amount2:11 BidMin:12 BidMax:13 MinimumOffer:16 RippleEscrow:17 DeliveredAmount:18 NFTokenBrokerFee:19
    BaseFeeDrops:22 ReserveBaseDrops:23 ReserveIncrementDrops:24 LPTokenOut:25 LPTokenIn:26 EPrice:27 Price:28
    SignatureReward:29 MinAccountCreateAmount:30 LPTokenBalance:31 FeeAmount:32 MaxFee:33 FeeAmountDelta:34`,
  Blob: `
    PublicKey:1 MessageKey:2 SigningPubKey:3 TxnSignature:4 URI:5 Signature:6 Domain:7 FundCode:8 RemoveCode:9
    ExpireCode:10 CreateCode:11 MemoType:12 MemoData:13 MemoFormat:14 Fulfillment:16 Condition:17 MasterSignature:18
    UNLModifyValidator:19 ValidatorToDisable:20 ValidatorToReEnable:21 DIDDocument:26 Data:27 AssetClass:28
    Provider:29 MPTokenMetadata:30 CredentialType:31 ConfidentialBalanceInbox:32 ConfidentialBalanceSpending:33
    IssuerEncryptedBalance:34 IssuerEncryptionKey:35 HolderEncryptionKey:36 ZKProof:37 HolderEncryptedAmount:38
    IssuerEncryptedAmount:39 SenderEncryptedAmount:40 DestinationEncryptedAmount:41 AuditorEncryptedBalance:42
    AuditorEncryptedAmount:43 AuditorEncryptionKey:44 AmountCommitment:45 BalanceCommitment:46`,
  AccountID: `
    Account:1 Owner:2 Destination:3 Issuer:4 Authorize:5 Unauthorize:6 RegularKey:8 NFTokenMinter:9 EmitCallback:10
    Holder:11 Delegate:12 OtherChainSource:18 OtherChainDestination:19 AttestationSignerAccount:20
    AttestationRewardAccount:21 LockingChainDoor:22 IssuingChainDoor:23 Subject:24 Borrower:25 Counterparty:26
    Sponsor:27 HighSponsor:28 LowSponsor:29 CounterpartySponsor:30 Sponsee:31`,
  Int32: `
    LoanScale:1 RemainingOwnerCountDelta:2`,
  STObject: `
    TransactionMetaData:2 CreatedNode:3 DeletedNode:4 ModifiedNode:5 PreviousFields:6 FinalFields:7 NewFields:8
    TemplateEntry:9 Memo:10 SignerEntry:11 NFToken:12 EmitDetails:13 Permission:15 Signer:16 Majority:18
    DisabledValidator:19 VoteEntry:25 AuctionSlot:26 AuthAccount:27 XChainClaimProofSig:28
    XChainCreateAccountProofSig:29 XChainClaimAttestationCollectionElement:30
    XChainCreateAccountAttestationCollectionElement:31 PriceData:32 Credential:33 RawTransaction:34 BatchSigner:35
    Book:36 CounterpartySignature:37 SponsorSignature:38`,
  STArray: `
    Signers:3 SignerEntries:4 Template:5 Necessary:6 Sufficient:7 AffectedNodes:8 Memos:9 NFTokens:10 VoteSlots:12
    AdditionalBooks:13 Majorities:16 DisabledValidators:17 XChainClaimAttestations:21
    XChainCreateAccountAttestations:22 PriceDataSeries:24 AuthAccounts:25 AuthorizeCredentials:26
    UnauthorizeCredentials:27 AcceptedCredentials:28 Permissions:29 RawTransactions:30 BatchSigners:31`,
  UInt8: `
    CloseResolution:1 Method:2 TransactionResult:3 Scale:4 AssetScale:5 LEVersion:6 TickSize:16
    UNLModifyDisabling:17 WasLockingChainSend:19 WithdrawalPolicy:20 ContractResult:21 VaultKind:22`,
  Hash160: `
    TakerPaysCurrency:1 TakerPaysIssuer:2 TakerGetsCurrency:3 TakerGetsIssuer:4`,
  PathSet: `
    Paths:1`,
  Vector256: `
    Indexes:1 Hashes:2 Amendments:3 NFTokenOffers:4 CredentialIDs:5`,
  Hash192: `
    MPTokenIssuanceID:1 ShareMPTID:2 TakerPaysMPT:3 TakerGetsMPT:4`,
  Issue: `
    LockingChainIssue:1 IssuingChainIssue:2 Asset:3 Asset2:4`,
  XChainBridge: `
    XChainBridge:1`,
  Currency: `
    BaseAsset:1 QuoteAsset:2`
}

export interface Field {
  readonly name: string
  readonly type: FieldType
  /** By which the fields of an object are sorted. */
  readonly order: number
  /** Type and number, as they stand before the value. */
  readonly header: Uint8Array
}

const headerOf = (type: number, number: number): Uint8Array => {
  if (type < 16) return number < 16 ? Uint8Array.of((type << 4) | number) : Uint8Array.of(type << 4, number)
  return number < 16 ? Uint8Array.of(number, type) : Uint8Array.of(0, type, number)
}

/** By name. */
export const fields: ReadonlyMap<string, Field> = new Map(
  (Object.keys(typeCodes) as ReadonlyArray<FieldType>).flatMap((type) =>
    [...numbers(fieldsOfType[type])].map(([name, number]): [string, Field] => [
      name,
      { name, type, order: typeCodes[type] * 0x10000 + number, header: headerOf(typeCodes[type], number) }
    ])
  )
)

export const transactionTypes = numbers(`
    Payment:0 EscrowCreate:1 EscrowFinish:2 AccountSet:3 EscrowCancel:4 SetRegularKey:5 OfferCreate:7 OfferCancel:8
    TicketCreate:10 SignerListSet:12 PaymentChannelCreate:13 PaymentChannelFund:14 PaymentChannelClaim:15
    CheckCreate:16 CheckCash:17 CheckCancel:18 DepositPreauth:19 TrustSet:20 AccountDelete:21 NFTokenMint:25
    NFTokenBurn:26 NFTokenCreateOffer:27 NFTokenCancelOffer:28 NFTokenAcceptOffer:29 Clawback:30 AMMClawback:31
    AMMCreate:35 AMMDeposit:36 AMMWithdraw:37 AMMVote:38 AMMBid:39 AMMDelete:40 XChainCreateClaimID:41
    XChainCommit:42 XChainClaim:43 XChainAccountCreateCommit:44 XChainAddClaimAttestation:45
    XChainAddAccountCreateAttestation:46 XChainModifyBridge:47 XChainCreateBridge:48 DIDSet:49 DIDDelete:50
    OracleSet:51 OracleDelete:52 LedgerStateFix:53 MPTokenIssuanceCreate:54 MPTokenIssuanceDestroy:55
    MPTokenIssuanceSet:56 MPTokenAuthorize:57 CredentialCreate:58 CredentialAccept:59 CredentialDelete:60
    NFTokenModify:61 PermissionedDomainSet:62 PermissionedDomainDelete:63 DelegateSet:64 VaultCreate:65 VaultSet:66
    VaultDelete:67 VaultDeposit:68 VaultWithdraw:69 VaultClawback:70 Batch:71 LoanBrokerSet:74 LoanBrokerDelete:75
    LoanBrokerCoverDeposit:76 LoanBrokerCoverWithdraw:77 LoanBrokerCoverClawback:78 LoanSet:80 LoanDelete:81
    LoanManage:82 LoanPay:84 ConfidentialMPTConvert:85 ConfidentialMPTMergeInbox:86 ConfidentialMPTConvertBack:87
    ConfidentialMPTSend:88 ConfidentialMPTClawback:89 SponsorshipTransfer:90 SponsorshipSet:91 EnableAmendment:100
    SetFee:101 UNLModify:102`)

/** What a delegate may be permitted (XLS-75): a type of transactions by its number and one, or a part of one. */
export const permissions: ReadonlyMap<string, number> = new Map([
  ...[...transactionTypes].map(([name, number]) => [name, number + 1] as const),
  ...numbers(`
    TrustlineAuthorize:65537 TrustlineFreeze:65538 TrustlineUnfreeze:65539 AccountDomainSet:65540
    AccountEmailHashSet:65541 AccountMessageKeySet:65542 AccountTransferRateSet:65543 AccountTickSizeSet:65544
    PaymentMint:65545 PaymentBurn:65546 MPTokenIssuanceLock:65547 MPTokenIssuanceUnlock:65548`)
])

export const ledgerEntryTypes = numbers(`
    NFTokenOffer:55 Check:67 DID:73 NegativeUNL:78 NFTokenPage:80 SignerList:83 Ticket:84 AccountRoot:97
    DirectoryNode:100 Amendments:102 LedgerHashes:104 Bridge:105 Offer:111 DepositPreauth:112 XChainOwnedClaimID:113
    RippleState:114 FeeSettings:115 XChainOwnedCreateAccountClaimID:116 Escrow:117 PayChannel:120 AMM:121
    MPTokenIssuance:126 MPToken:127 Oracle:128 Credential:129 PermissionedDomain:130 Delegate:131 Vault:132
    LoanBroker:136 Loan:137 Sponsorship:144`)

/** Of transactions that stand in a ledger. */
export const transactionResults = numbers(`
    tesSUCCESS:0 tecCLAIM:100 tecPATH_PARTIAL:101 tecUNFUNDED_ADD:102 tecUNFUNDED_OFFER:103 tecUNFUNDED_PAYMENT:104
    tecFAILED_PROCESSING:105 tecDIR_FULL:121 tecINSUF_RESERVE_LINE:122 tecINSUF_RESERVE_OFFER:123 tecNO_DST:124
    tecNO_DST_INSUF_XRP:125 tecNO_LINE_INSUF_RESERVE:126 tecNO_LINE_REDUNDANT:127 tecPATH_DRY:128 tecUNFUNDED:129
    tecNO_ALTERNATIVE_KEY:130 tecNO_REGULAR_KEY:131 tecOWNERS:132 tecNO_ISSUER:133 tecNO_AUTH:134 tecNO_LINE:135
    tecINSUFF_FEE:136 tecFROZEN:137 tecNO_TARGET:138 tecNO_PERMISSION:139 tecNO_ENTRY:140
    tecINSUFFICIENT_RESERVE:141 tecNEED_MASTER_KEY:142 tecDST_TAG_NEEDED:143 tecINTERNAL:144 tecOVERSIZE:145
    tecCRYPTOCONDITION_ERROR:146 tecINVARIANT_FAILED:147 tecEXPIRED:148 tecDUPLICATE:149 tecKILLED:150
    tecHAS_OBLIGATIONS:151 tecTOO_SOON:152 tecMAX_SEQUENCE_REACHED:154 tecNO_SUITABLE_NFTOKEN_PAGE:155
    tecNFTOKEN_BUY_SELL_MISMATCH:156 tecNFTOKEN_OFFER_TYPE_MISMATCH:157 tecCANT_ACCEPT_OWN_NFTOKEN_OFFER:158
    tecINSUFFICIENT_FUNDS:159 tecOBJECT_NOT_FOUND:160 tecINSUFFICIENT_PAYMENT:161 tecUNFUNDED_AMM:162
    tecAMM_BALANCE:163 tecAMM_FAILED:164 tecAMM_INVALID_TOKENS:165 tecAMM_EMPTY:166 tecAMM_NOT_EMPTY:167
    tecAMM_ACCOUNT:168 tecINCOMPLETE:169 tecXCHAIN_BAD_TRANSFER_ISSUE:170 tecXCHAIN_NO_CLAIM_ID:171
    tecXCHAIN_BAD_CLAIM_ID:172 tecXCHAIN_CLAIM_NO_QUORUM:173 tecXCHAIN_PROOF_UNKNOWN_KEY:174
    tecXCHAIN_CREATE_ACCOUNT_NONXRP_ISSUE:175 tecXCHAIN_WRONG_CHAIN:176 tecXCHAIN_REWARD_MISMATCH:177
    tecXCHAIN_NO_SIGNERS_LIST:178 tecXCHAIN_SENDING_ACCOUNT_MISMATCH:179 tecXCHAIN_INSUFF_CREATE_AMOUNT:180
    tecXCHAIN_ACCOUNT_CREATE_PAST:181 tecXCHAIN_ACCOUNT_CREATE_TOO_MANY:182 tecXCHAIN_PAYMENT_FAILED:183
    tecXCHAIN_SELF_COMMIT:184 tecXCHAIN_BAD_PUBLIC_KEY_ACCOUNT_PAIR:185 tecXCHAIN_CREATE_ACCOUNT_DISABLED:186
    tecEMPTY_DID:187 tecINVALID_UPDATE_TIME:188 tecTOKEN_PAIR_NOT_FOUND:189 tecARRAY_EMPTY:190
    tecARRAY_TOO_LARGE:191 tecLOCKED:192 tecBAD_CREDENTIALS:193 tecWRONG_ASSET:194 tecLIMIT_EXCEEDED:195
    tecPSEUDO_ACCOUNT:196 tecPRECISION_LOSS:197 tecBAD_PROOF:199 tecNO_SPONSOR_PERMISSION:200`)
