/** Every code of the doctor's findings explained, for `headwater explain` and the documentation. */
import type { Explanation } from "@headwater/http/contract/ErrorExplanations"

/** What a finding is about. */
export type About = "listening" | "store" | "record" | "market" | "chain" | "node"

export const explanations = {
  port_in_use: {
    about: "listening",
    meaning: "Another program listens on the daemon's address, so that `headwater serve` cannot start.",
    causes: ["A second daemon, or a program that happens to use the same port."],
    remedies: [
      "`ss -ltnp` shows which program has the port; end it, or set another `http.port` or `console.port`.",
      "A daemon that was told to stop may take up to 20 seconds."
    ]
  },
  address_unusable: {
    about: "listening",
    meaning: "The system refuses the address on which the daemon is to listen.",
    causes: [
      "`http.host` or `console.host` is no address of this machine (`EADDRNOTAVAIL`).",
      "The port is below 1024 and the user may not use it (`EACCES`)."
    ],
    remedies: ["Set the host to `127.0.0.1`, or to an address that `ip address` shows; set a port above 1023."]
  },
  store_unavailable: {
    about: "store",
    meaning: "The store does not open. `headwater serve` cannot start on it.",
    causes: [
      "SQLite: the folder does not exist, this user may not write there, or its disk is full.",
      "PostgreSQL: the server does not run, or host, user, password or database in `store.postgres` is wrong.",
      "PostgreSQL: the role may not create tables in the schema (`permission denied for schema public`), which PostgreSQL 15 " +
        "and newer grant to the owner of the database alone.",
      "PostgreSQL: the server wants TLS (`no encryption`), or its certificate is of an authority that the URL does not name."
    ],
    remedies: [
      "SQLite: `ls -ld` of the folder that `store.sqlite` names, as the daemon's user.",
      "PostgreSQL: `psql` with the same URL, from the same machine. Where `psql` connects and Headwater does not, TLS differs: " +
        "without `sslmode` `psql` uses TLS where the server offers it, and Headwater none.",
      "PostgreSQL: `create database headwater owner headwater`, or `grant create on schema public to headwater`.",
      "PostgreSQL with TLS: `?sslmode=verify-full` at the end of the URL, with `&sslrootcert=/etc/headwater/ca.pem` where the " +
        "authority is your own."
    ]
  },
  store_in_use: {
    about: "store",
    meaning: "Another program has the SQLite store for itself at this moment.",
    causes: ["A daemon, `headwater rewind`, `skip` or an upgrade of the schema is under way on the same file."],
    remedies: [
      "Wait until it has finished, or stop it. One SQLite file is for one daemon; several daemons need PostgreSQL."
    ]
  },
  store_too_new: {
    about: "store",
    meaning: "A newer Headwater has changed the schema so that this version would go wrong on it. Nothing was touched.",
    causes: ["The program was set back to an older version, or two machines run different versions."],
    remedies: [
      "Install the version that the message names, or a newer one.",
      "To stay with this version, restore the backup from before the upgrade: what came since is read from the nodes again, what accounts did since is lost."
    ]
  },
  chain_without_daemon: {
    about: "store",
    meaning: "Of the daemons that share the PostgreSQL store, none follows the chain: its record stands still.",
    causes: [
      "No daemon with the role `follow` runs.",
      "The chain was taken out of the settings of every daemon, or stands in those of one that has ended."
    ],
    remedies: [
      "`headwater status` lists the daemons, their roles and what they follow; start one with the role `follow` and the chain in its settings.",
      "A chain that is wanted no more may stay as it is."
    ]
  },
  store_incomplete: {
    about: "store",
    meaning: "The database has tables that Headwater did not finish, or that belong to another program.",
    causes: [
      "`store.postgres` names a database of another program.",
      "Headwater 0.1 was killed at its very first start."
    ],
    remedies: ["Name a new file or an empty database in `[store]`."]
  },
  store_moved: {
    about: "store",
    meaning: "The store was moved to PostgreSQL, or is a database that another store is still being moved to.",
    causes: [
      "The settings still name the SQLite file, although `headwater migrate-store --finish` has ended the move.",
      "The settings name the database already, and the move has not ended."
    ],
    remedies: [
      "After the move, start the daemon with the settings that name the database.",
      "Before its end, start the daemon with the SQLite file, or end the move (docs/operations.md, From SQLite to PostgreSQL)."
    ]
  },
  store_failing: {
    about: "store",
    meaning: "The store opens, and a read of it failed.",
    causes: ["The disk is failing or full, the file is damaged, or the server ended the connection."],
    remedies: [
      "Look at the system's log (`dmesg`, `journalctl`) and at the room left (`df`).",
      "Stop the daemon and copy the store before anything else is tried; then restore a backup (docs/operations.md, Backup)."
    ]
  },
  secret_key_missing: {
    about: "store",
    meaning:
      "Callback secrets are encrypted with a key that is not there. Without it no callback with a secret can be signed, and `headwater serve` does not start.",
    causes: [
      "The store was moved or restored without the key file beside it.",
      "`store.secretKey` was changed, or its file cannot be read by this user."
    ],
    remedies: [
      "Put the key back from its backup: the file beside the store, or `store.secretKey`.",
      "If the key is lost for good, `headwater secrets forget` gives the secrets up; accounts then set new ones."
    ]
  },
  secrets_being_encrypted: {
    about: "store",
    meaning: "Callback secrets are being encrypted with another key, in small steps; some still have the old one.",
    causes: ["An upgrade from a version that did not encrypt, or a change of the key, that was interrupted."],
    remedies: [
      "Start the daemon, which goes on by itself, or run `headwater secrets rotate`.",
      "Keep the old key until this finding is gone."
    ]
  },
  disk_space: {
    about: "store",
    meaning:
      "The disk of the store has little room: a problem below 1 GiB, a warning below 10 GiB. A full disk stops every chain; nothing is lost by that.",
    causes: ["The store has grown; or other files, backups and logs share the disk."],
    remedies: [
      "Make room, or move the store: stop the daemon, move the file with its `-wal` and key files, set `store.sqlite`.",
      '`docs/operations.md`, Sizing, says what a chain needs; `record = "watched"` needs least, `callbacks.keepDays` less.'
    ]
  },
  file_readable_by_others: {
    about: "store",
    meaning:
      "Other users of this machine may read the SQLite file, which has every account's subscriptions and callbacks, or the " +
      "file with the key of callback secrets.",
    causes: ["The file was made by hand, restored or copied with wider rights than Headwater gives."],
    remedies: ["`chmod 600` the file and those beside it that begin with its name."]
  },
  file_unchecked: {
    about: "store",
    meaning: "The SQLite file is larger than 8 GiB, so that `doctor` does not read it through for damage.",
    causes: ["A large store."],
    remedies: [
      'Run `sqlite3 FILE "pragma quick_check"` now and then, on a backup or beside the daemon. It takes minutes.'
    ]
  },
  file_damaged: {
    about: "store",
    meaning: "SQLite finds the file damaged. What is read from it may be wrong; stop the daemon now.",
    causes: [
      "A failing disk, or memory that flips bits.",
      "The file was copied while the daemon wrote, without `headwater backup`.",
      "The file lies on a network file system that does not keep its promises."
    ],
    remedies: [
      "Stop the daemon, keep a copy of the file, check the disk (`smartctl -a`).",
      "Restore a backup (docs/operations.md, Backup). The chains are read on from its blocks."
    ]
  },
  server_read_only: {
    about: "store",
    meaning: "The PostgreSQL server takes no writes from this role.",
    causes: ["`store.postgres` names a standby, as after a fail-over.", "`default_transaction_read_only` is on."],
    remedies: [
      "Name the primary, or several hosts with `target_session_attrs=read-write`.",
      "`show default_transaction_read_only` in `psql` says who set it; `alter role … reset` undoes it."
    ]
  },
  role_lacks_tables: {
    about: "store",
    meaning: "The PostgreSQL role may not read and write every table of the store.",
    causes: ["The tables were made or restored by another role."],
    remedies: [
      "Make the role the owner of the tables and sequences, or grant `select, insert, update, delete` on all tables and " +
        "`usage` on all sequences."
    ]
  },
  role_lacks_schema: {
    about: "store",
    meaning: "The PostgreSQL role may use the tables and not change them: the next upgrade would fail.",
    causes: ["The role does not own the tables, or may not create in the schema."],
    remedies: ["`alter table … owner to`, and `grant create on schema`, before the next upgrade."]
  },
  role_is_superuser: {
    about: "store",
    meaning:
      "Headwater connects as a superuser of the PostgreSQL server. It works, and a fault could reach every database there.",
    causes: ["The URL names `postgres` or another administrator."],
    remedies: ["Create a role that owns this database alone, and name that in `store.postgres`."]
  },
  server_clock: {
    about: "store",
    meaning: "The clock of the PostgreSQL server differs from this machine's by more than five seconds.",
    causes: ["NTP does not run on one of both."],
    remedies: ["Set both clocks by NTP: leases and retries are told by them."]
  },
  server_encoding: {
    about: "store",
    meaning:
      "The PostgreSQL database has an encoding, such as LATIN1, that lacks characters which names of tokens have. What has " +
      "such a character cannot be stored: callbacks of its chain wait. New stores are refused there.",
    causes: ["The database was made with the encoding of its server's locale, by a version that did not refuse that."],
    remedies: [
      "Stop the daemons, make another database (`createdb --encoding UTF8 --template template0 new`), fill it " +
        "(`pg_dump old | psql --set ON_ERROR_STOP=1 new`), and name it in `store.postgres`."
    ]
  },
  blocks_skipped: {
    about: "record",
    meaning:
      "The record lacks a range of blocks that an operator gave up with `headwater skip`. No callback is sent about them.",
    causes: ["No node had these blocks any more."],
    remedies: [
      "Nothing has to be done. If the blocks are wanted, add a node that has them and `headwater rewind` to the block before."
    ]
  },
  internal_transactions_missing: {
    about: "record",
    meaning: "Blocks were recorded without their internal transactions, whose callbacks have not been sent yet.",
    causes: [
      "The nodes could not trace these blocks: no tracer, a state that was thrown away, or a trace that took too long."
    ],
    remedies: [
      "Add a node that keeps the state of these blocks (an archive node), with the same tracer, anywhere in `nodes`. They are filled in by themselves.",
      "Where the message names a timeout, raise `traceTimeoutMillis` of the chain."
    ]
  },
  part_unproven: {
    about: "record",
    meaning:
      "A part of a block rests on the node's word: nothing in the chain commits to it, or its form is newer than this version.",
    causes: [
      "The chain does not commit to the part; docs/chains lists such parts.",
      "A fork has changed the form of headers or transactions."
    ],
    remedies: ["Upgrade Headwater where the form is new. Compare the block at two nodes of different operators."]
  },
  not_understood: {
    about: "record",
    meaning:
      "Transactions of a kind that this version does not know were recorded in part; nothing of the rest was guessed or sent.",
    causes: ["A fork or amendment is newer than this version.", "The node's answer was broken."],
    remedies: [
      "Upgrade Headwater, then run the `headwater replay` that `headwater status` prints: callbacks that were held back are sent under their keys.",
      "If this is the newest version, compare the block with another node's, and report the transaction."
    ]
  },
  amounts_in_doubt: {
    about: "record",
    meaning:
      "Movements on a UTXO chain may spend coins that are not known; their callbacks wait, since no amount is guessed.",
    causes: ["The node does not show what inputs spend, and the address was paid before anybody watched it."],
    remedies: ["Set `txindex=1` at one of the chain's nodes: the callbacks follow by themselves within ten minutes."]
  },
  asset_file_unreadable: {
    about: "market",
    meaning:
      "The file of assets and rates that `marketData.file.path` names cannot be read. The daemon runs, and has none of the file's rates.",
    causes: [
      "The path is relative to another folder than the one that the daemon is started in, or the file is not written yet.",
      "The daemon's user may not read the file or its folder."
    ],
    remedies: [
      "`ls -l` of the path, as the daemon's user and in its working directory. The file is read as soon as it is there."
    ]
  },
  next_block_unavailable: {
    about: "chain",
    meaning: "None of the chain's nodes gives the block that is read next. The chain does not go on.",
    causes: [
      "The nodes are down, or refuse the calls: the findings of each node say so.",
      "The nodes are pruned, and the chain was not followed for longer than they keep blocks."
    ],
    remedies: [
      "Let a node fetch the block, or add one that has it: it is needed only until the chain has caught up.",
      "Before the first block is stored: set `start` to the block that the message names.",
      "If no node has the blocks any more: `headwater skip CHAIN` says what would be given up, and changes nothing by itself."
    ]
  },
  block_untraced: {
    about: "chain",
    meaning:
      "The block can be read, and its internal transactions cannot: the node has thrown its state away, or cannot trace it.",
    causes: ["The node is pruned, or has no tracer that works on this block."],
    remedies: [
      "Add a node that keeps the state of that block; what blocks lack is filled in by itself.",
      "Set `internalTransactions = false` for the chain where nobody needs them."
    ]
  },
  nodes_on_another_branch: {
    about: "chain",
    meaning:
      "The nodes' chain leaves the store's below the blocks that may be undone. The chain is stopped, and nothing is deleted.",
    causes: [
      "The nodes are on a wrong branch or another network.",
      "A test network was reset.",
      "A reorganisation was deeper than `undoDepth`."
    ],
    remedies: [
      "Compare a block's hash with another source before anything else.",
      "If the nodes are right: `headwater rewind CHAIN HEIGHT`, to a block that both have.",
      "After a reset of the network, begin with a new store.",
      "Where one node of several is meant, take it out of `nodes` until its chain is that of the others."
    ]
  },
  node_behind_store: {
    about: "chain",
    meaning: "The nodes' newest block is below the store's. Nothing is recorded until they have passed it.",
    causes: ["A node was replaced or reindexes, and still synchronises."],
    remedies: ["Wait, or name a synchronised node first. Do not rewind."]
  },
  start_ahead: {
    about: "chain",
    meaning: "`start` is above the chain's newest block: nothing is recorded before that height.",
    causes: ["A height of another network, or one that is yet to come."],
    remedies: ['Set an earlier `start`, or `"latest"`, before the first block is stored; leave it if it is meant.']
  },
  wrong_network: {
    about: "node",
    meaning: "The node belongs to another network than the chain. Nothing is read from it.",
    causes: ["The URL has the wrong host or port, or the node was started for a test network."],
    remedies: ["Correct the URL in `nodes`, or move it to the table of its own network."]
  },
  network_unproven: {
    about: "node",
    meaning: "Nothing proves on which network the node is. The chain is followed on the node's word.",
    causes: [
      "The node has thrown away the block that proves it, or does not show it.",
      "The network has no block that is known, such as one of your own."
    ],
    remedies: ["See to it that the URL is right. Compare a block's hash with another source once."]
  },
  no_internal_transactions: {
    about: "node",
    meaning:
      "The node gives no traces, so that internal transactions cannot be read; with level `unknown`, no block has shown it yet.",
    causes: [
      "The debug or trace interface is switched off: `--http.api` of geth and Erigon lacks `debug`, java-tron lacks `vm.saveInternalTx = true`.",
      "The provider of the node does not sell traces."
    ],
    remedies: [
      "Switch the interface on (docs/chains names the flag of each node), and restart the node.",
      "Set `internalTransactions = false` for the chain where nobody needs them."
    ]
  },
  no_finality: {
    about: "node",
    meaning: "The node does not say which blocks are final. Only `undoDepth` protects against a deep reorganisation.",
    causes: ["An old node, or a chain without finality at this interface."],
    remedies: [
      "Upgrade the node; java-tron: `node.http.solidityEnable = true`. Else keep `undoDepth` as deep as you trust the chain."
    ]
  },
  incomplete_history: {
    about: "node",
    meaning: "The node does not keep all blocks: following works, reading the past again does not.",
    causes: ["The node is pruned, still synchronises, or has gaps."],
    remedies: ["Nothing, where the past is never read again. Else add a node that keeps all blocks."]
  },
  prevouts_hidden: {
    about: "node",
    meaning:
      "The node does not show what inputs spend. Coins that an address had before it was watched are not recognised when they are spent.",
    causes: [
      "The node is older than Bitcoin Core 23, or of a chain whose node lacks it (Litecoin, Dogecoin, Zcash, Dash before 23)."
    ],
    remedies: [
      "Subscribe to addresses before they are first paid; set `txindex=1`, which decides amounts in doubt.",
      'Or follow the chain anew with `start = 0` and `record = "all"`.'
    ]
  },
  no_coin_search: {
    about: "node",
    meaning:
      "The node cannot search the coins of an address. Of wallets and addresses that were paid before they were watched, balances are refused.",
    causes: ["`scantxoutset` is not allowed for this user (`rpcwhitelist`), or the node has no index of addresses."],
    remedies: ["Allow `scantxoutset`, or use a node with an index of addresses (Zebra)."]
  },
  no_block_receipts: {
    about: "node",
    meaning: "The node lacks `eth_getBlockReceipts`: receipts are read one by one, which is slower.",
    causes: ["An old node, or a provider that does not pass the call on."],
    remedies: ["Nothing, while the chain keeps up. Else upgrade the node."]
  },
  capability_lacking: {
    about: "node",
    meaning: "The node lacks an ability, or has not shown it; the message says which one and what depends on it.",
    causes: ["The node's version or settings."],
    remedies: ["Follow the advice of the finding."]
  },
  node_unreachable: {
    about: "node",
    meaning: "The node does not answer at its URL.",
    causes: [
      "The node does not run, or its interface listens on another address or port.",
      "A firewall or container network is in between: inside a container, `127.0.0.1` is the container.",
      "User, password or cookie is wrong (status 401 or 403), or TLS fails."
    ],
    remedies: [
      "`curl` the URL from the daemon's own machine and user.",
      "Compare the port with the node's settings: 8545 (EVM), 8332 (Bitcoin), 8090 (Tron), 6006 or 5005 (XRP) are usual."
    ]
  },
  node_rejected: {
    about: "node",
    meaning: "The node answers with an error of its own.",
    causes: [
      "The URL names another interface of the node, such as its engine API.",
      "The call is not allowed: `--http.api`, `rpcwhitelist`, `node.disabledApi`, or the plan of a provider.",
      "The node limits the rate or the size of answers."
    ],
    remedies: ["Allow the call that the message names. Lower `parallel` for a provider that limits the rate."]
  },
  proof_failed: {
    about: "node",
    meaning: "A block of the node does not fit its own hashes. Nothing of it was recorded; the node lies or is broken.",
    causes: [
      "A broken disk or memory of the node, a faulty proxy or provider, or a node that lies.",
      "A fork that this version does not know."
    ],
    remedies: [
      "Do not use this node until the block was compared with another node's.",
      "If several nodes of different operators say the same, upgrade Headwater."
    ]
  },
  node_inconsistent: {
    about: "node",
    meaning: "The node's answers contradict one another, or are not of the form that its interface has.",
    causes: [
      "The URL names another service, or a node of another family.",
      "A load balancer spreads the calls over nodes at different blocks."
    ],
    remedies: ["Name each node behind the balancer by a URL of its own in `nodes`: Headwater fails over by itself."]
  },
  node_block_missing: {
    about: "node",
    meaning: "The node lacks a block that it should have.",
    causes: ["The node still synchronises, or was pruned."],
    remedies: ["Wait until the node has synchronised, or put a node first that has the block."]
  },
  node_slow: {
    about: "node",
    meaning: "The node took longer than 30 seconds for the doctor's questions.",
    causes: [
      "The node is busy: it synchronises, compacts, or traces large blocks for others.",
      "The network to the node is slow."
    ],
    remedies: [
      "Look at the node's log and load. If tracing is slow, lower `parallel`, or give traces a node of their own."
    ]
  },
  block_ahead_of_clock: {
    about: "node",
    meaning: "The newest block is of a time that this machine's clock has not reached.",
    causes: ["This machine's clock is slow."],
    remedies: ["Set the clock by NTP (`timedatectl`): retries, charges and signatures use it."]
  },
  block_old: {
    about: "node",
    meaning: "The node's newest block is older than the chain's `silentSeconds`.",
    causes: ["The node has no peers or still synchronises.", "The chain itself has halted.", "A clock is wrong."],
    remedies: [
      "Compare the newest height with another source. If the node alone is behind, look at its peers and disk."
    ]
  },
  node_lacks_next_block: {
    about: "node",
    meaning: "This node lacks the block that is read next. Another of the chain's nodes may have it.",
    causes: ["The node is pruned or still synchronises."],
    remedies: ["Let the node fetch the block, or name one first that has it."]
  },
  node_synchronising: {
    about: "node",
    meaning: "The node says of itself that it still synchronises. The chain follows it as far as it is.",
    causes: ["A new or restarted node; a slow disk; no peers."],
    remedies: ["Wait, or follow from a node that is done."]
  },
  no_peers: {
    about: "node",
    meaning: "The node is connected to no other node, and learns of no new block.",
    causes: ["Its peer-to-peer port is closed, it is offline, or its list of peers is stale."],
    remedies: ["Open its peer-to-peer port, and compare its list of peers with that of its release."]
  },
  node_clock: {
    about: "node",
    meaning: "The node's clock is more than a minute from its peers', which may make it refuse blocks.",
    causes: ["NTP does not run on the node's machine."],
    remedies: ["Set the clock of the node's machine by NTP."]
  },
  no_new_heads: {
    about: "node",
    meaning:
      "Nothing announces new blocks at a URL of the setting `newHeads`. Blocks are found by asking the node every `pollMillis`.",
    causes: [
      "The node serves no WebSocket, or on another port: geth, reth and Besu have one of its own, 8546 unless set otherwise.",
      "A proxy or provider between does not pass WebSocket on, or wants another path, user or key."
    ],
    remedies: [
      "Start the node with WebSocket (`--ws`, with Besu `--rpc-ws-enabled`), and name its port in `newHeads`.",
      "`newHeads = []` does without, and the warning ends; `pollMillis` then says how late a block is seen at most."
    ]
  },
  amendment_blocked: {
    about: "node",
    meaning:
      "The XRP Ledger has activated an amendment that this rippled does not know: it validates no further ledger.",
    causes: ["The version of rippled is too old."],
    remedies: ["Upgrade rippled. Until then follow from another server."]
  },
  solid_block_behind: {
    about: "node",
    meaning: "The Tron node's solid block is more than two rounds of producers behind its newest one.",
    causes: ["The node does not synchronise, or the network's producers do not agree."],
    remedies: ["Compare the solid block with another node's. If only this one is behind, look at its peers and disk."]
  }
} as const satisfies Readonly<Record<string, Explanation & { readonly about: About }>>

export type FindingCode = keyof typeof explanations
