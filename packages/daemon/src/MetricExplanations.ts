/** Every metric of `/metrics` explained, for the documentation. What an alert says stands in `observability/alerts.yaml`. */

export interface Explanation {
  readonly type: "counter" | "gauge" | "histogram"
  /** What it counts or measures, in one or two sentences. Backquotes enclose code. */
  readonly meaning: string
  /** The labels by name. */
  readonly labels?: Readonly<Record<string, string>>
  /** A query that answers the question for which one looks. */
  readonly query: string
}

const chain = { chain: "the chain, as `ethereum/mainnet`" }
const operation =
  "the operation's name, `-` where a request is for none; never its path, which may hold an extended public key"
const provider = "the provider of market data"
const callbackState = {
  state:
    "`waiting` for the first attempt, `retrying`, `parked` (the subscription is inactive, or the host not verified), `unwritten` (what busy addresses are still to have)"
}

export const explanations: Readonly<Record<string, Explanation>> = {
  headwater_chain_height_blocks: {
    type: "gauge",
    meaning: "The height of the last block that was committed with its callbacks.",
    labels: chain,
    query: "max by (chain) (headwater_chain_height_blocks)"
  },
  headwater_chain_tip_age_seconds: {
    type: "gauge",
    meaning:
      "Seconds since the time that the last committed block carries. It grows where the chain itself is quiet too.",
    labels: chain,
    query: "max by (chain) (headwater_chain_tip_age_seconds)"
  },
  headwater_chain_lag_blocks: {
    type: "gauge",
    meaning: "Blocks that the node has and the store has not.",
    labels: chain,
    query: "max by (chain) (headwater_chain_lag_blocks)"
  },
  headwater_chain_lag_seconds: {
    type: "gauge",
    meaning: "Age of the last committed block while the node has newer ones, else 0: by how much callbacks come late.",
    labels: chain,
    query: "max by (chain) (headwater_chain_lag_seconds)"
  },
  headwater_chain_silence_seconds: {
    type: "gauge",
    meaning:
      "Seconds since a block was last committed, by the clock of the daemon's machine; until this process has committed " +
      "one, since the chain's state last changed.",
    labels: chain,
    query: "max by (chain) (headwater_chain_silence_seconds)"
  },
  headwater_chain_state: {
    type: "gauge",
    meaning: "1 for the state that the chain is in, 0 for the others. `headwater status` has the reason.",
    labels: {
      ...chain,
      state:
        "`starting`, `syncing` (behind the node), `following`, `failing` (tried again), `stopped` (an operator has to act)"
    },
    query: "headwater_chain_state == 1"
  },
  headwater_chain_unproven_blocks: {
    type: "gauge",
    meaning:
      "Blocks since the daemon's start of which a part rests on the node's word, since no hash, root or signature proves that part.",
    labels: { ...chain, part: "the part of the block, as `internal transactions` or `prevouts`" },
    query: "headwater_chain_unproven_blocks > 0"
  },
  headwater_chain_unresolved_events: {
    type: "gauge",
    meaning: "Movements of coins whose amount is in doubt, and which have no callback yet for that reason.",
    labels: chain,
    query: "sum by (chain) (headwater_chain_unresolved_events)"
  },
  headwater_chain_missing_internal_blocks: {
    type: "gauge",
    meaning: "Committed blocks whose internal transactions no node has given yet.",
    labels: chain,
    query: "sum by (chain) (headwater_chain_missing_internal_blocks)"
  },
  headwater_chain_skipped_blocks: {
    type: "gauge",
    meaning: "Blocks that an operator has given up with `headwater skip`. There are no callbacks about them.",
    labels: chain,
    query: "sum by (chain) (headwater_chain_skipped_blocks)"
  },
  headwater_chain_not_understood_transactions: {
    type: "gauge",
    meaning: "Transactions of which this version has not understood everything; the rest was neither guessed nor sent.",
    labels: chain,
    query: "sum by (chain) (headwater_chain_not_understood_transactions)"
  },
  headwater_chain_full_accounts: {
    type: "gauge",
    meaning:
      "Accounts that are told no more of busy addresses, since as many of their callbacks wait as may (`limits.waitingCallbacks`). `/ready` names them.",
    labels: chain,
    query: "max by (chain) (headwater_chain_full_accounts)"
  },
  headwater_daemon: {
    type: "gauge",
    meaning:
      "1 for each daemon that shares the PostgreSQL store and has said within eight seconds that it runs, 0 once it has gone.",
    labels: { daemon: "its name", version: "its version", roles: "its roles, as `follow,deliver,api,market`" },
    query: "sum(max by (daemon) (headwater_daemon))"
  },
  headwater_chain_follower: {
    type: "gauge",
    meaning:
      "1 for the daemon that follows the chain, of several on one PostgreSQL store; 0 for those that have followed before.",
    labels: { ...chain, daemon: "its name" },
    query: "max by (chain, daemon) (headwater_chain_follower) == 1"
  },
  headwater_own_outage: {
    type: "gauge",
    meaning:
      "1 for what this machine or its store lacks at the moment, 0 for what it has. While 1, no callback's attempt is counted.",
    labels: { lack: "what is lacking, as `network`" },
    query: "headwater_own_outage == 1"
  },
  headwater_callbacks: {
    type: "gauge",
    meaning: "Callbacks that have not reached their receivers, counted in the store over all daemons.",
    labels: callbackState,
    query: "max by (state) (headwater_callbacks)"
  },
  headwater_callbacks_oldest_seconds: {
    type: "gauge",
    meaning: "Age of the oldest callback that has not reached its receiver; 0 where there is none.",
    labels: callbackState,
    query: "max by (state) (headwater_callbacks_oldest_seconds)"
  },
  headwater_callbacks_late_seconds: {
    type: "gauge",
    meaning:
      "Age of the oldest callback that waits for its first attempt at a host that refuses none; 0 where there is none. Hosts that refuse are left out, since their lateness is not the daemon's.",
    query: "max(headwater_callbacks_late_seconds)"
  },
  headwater_receivers: {
    type: "gauge",
    meaning: "Hosts of each account that callbacks go to, by how they do; the first 10,000 are counted.",
    labels: { state: "`healthy`, `recovering`, `failing`, `paused`, `unverified` or `inactive`" },
    query: "max by (state) (headwater_receivers)"
  },
  headwater_subscriptions_failing: {
    type: "gauge",
    meaning: "Active subscriptions whose last attempt failed.",
    query: "max(headwater_subscriptions_failing)"
  },
  headwater_subscriptions_failing_half: {
    type: "gauge",
    meaning:
      "Active subscriptions that have failed half of the retries. After all of them a subscription is deactivated.",
    query: "max(headwater_subscriptions_failing_half)"
  },
  headwater_subscriptions_failing_seconds: {
    type: "gauge",
    meaning: "For how long the active subscription has failed that fails for longest; 0 where none does.",
    query: "max(headwater_subscriptions_failing_seconds)"
  },
  headwater_store_size_bytes: {
    type: "gauge",
    meaning: "Bytes that the store takes on disk.",
    query: "predict_linear(headwater_store_size_bytes[1d], 30 * 86400)"
  },
  headwater_callback_attempts_total: {
    type: "counter",
    meaning: "Attempts to deliver a callback.",
    labels: {
      outcome:
        "`delivered`; `retry` (failed, and tried again); `refused` (the last retry failed: the subscription is deactivated); `not_counted` (failed while this machine lacked something)"
    },
    query: "sum by (outcome) (rate(headwater_callback_attempts_total[5m]))"
  },
  headwater_callback_latency_seconds: {
    type: "histogram",
    meaning: "Seconds from the commit of an event to the acceptance of its callback.",
    query: "histogram_quantile(0.95, sum by (le) (rate(headwater_callback_latency_seconds_bucket[5m])))"
  },
  headwater_http_requests_total: {
    type: "counter",
    meaning: "Requests to the interface that were answered.",
    labels: { operation, method: "the HTTP method", status: "the HTTP status" },
    query: "sum by (status) (rate(headwater_http_requests_total[5m]))"
  },
  headwater_http_request_seconds: {
    type: "histogram",
    meaning: "Seconds that answering a request took.",
    labels: { operation },
    query: "histogram_quantile(0.95, sum by (le, operation) (rate(headwater_http_request_seconds_bucket[5m])))"
  },
  headwater_credits_consumed_total: {
    type: "counter",
    meaning: "Credits that requests have consumed, where credits are counted.",
    labels: { operation },
    query: "sum by (operation) (increase(headwater_credits_consumed_total[1d]))"
  },
  headwater_blocks_total: {
    type: "counter",
    meaning: "Blocks that were committed since the start, those of a branch that has left the chain included.",
    labels: chain,
    query: "sum by (chain) (rate(headwater_blocks_total[5m]))"
  },
  headwater_blocks_read_by_threads_total: {
    type: "counter",
    meaning:
      "Blocks that worker threads have read, while a chain caught up or was replayed. The others were read by the main thread.",
    labels: chain,
    query: "sum by (chain) (rate(headwater_blocks_read_by_threads_total[5m]))"
  },
  headwater_reorganisation_depth_blocks: {
    type: "histogram",
    meaning: "Blocks that each reorganisation has undone.",
    labels: chain,
    query: "sum by (chain) (increase(headwater_reorganisation_depth_blocks_count[1d]))"
  },
  headwater_missing_parts_filled_total: {
    type: "counter",
    meaning: "Blocks whose missing internal transactions were filled in later; their callbacks follow.",
    labels: chain,
    query: "sum by (chain) (rate(headwater_missing_parts_filled_total[5m]))"
  },
  headwater_node_errors_total: {
    type: "counter",
    meaning: "Requests that a node did not answer as it should. A request of many calls counts for its first method.",
    labels: {
      node: "the node's host, without user and password",
      method: "the method that was called",
      error: "the kind of error, as `NodeUnreachable`"
    },
    query: "sum by (node, method) (rate(headwater_node_errors_total[5m]))"
  },
  headwater_market_requests_total: {
    type: "counter",
    meaning: "Requests to providers of market data.",
    labels: {
      provider,
      outcome:
        "`answered`, `limited` (status 429), `refused` (the request was wrong or not allowed), `failed` (no answer, or an unreadable one)"
    },
    query: "sum by (provider, outcome) (rate(headwater_market_requests_total[1h]))"
  },
  headwater_market_quotes_total: {
    type: "counter",
    meaning: "Quotes of providers of market data: kept, or why they were not believed.",
    labels: {
      provider,
      outcome:
        "`kept`, `unchanged`, `unreadable`, `price_not_positive`, `price_absurd`, `price_jump`, `negative_figure`, `from_the_future` or `too_old`"
    },
    query: "sum by (provider, outcome) (increase(headwater_market_quotes_total[1d]))"
  },
  headwater_market_runs_total: {
    type: "counter",
    meaning: "Runs of the tasks that read market data.",
    labels: { provider, task: "the task", outcome: "`succeeded` or `failed`" },
    query: "sum by (provider, task, outcome) (increase(headwater_market_runs_total[1d]))"
  },
  headwater_market_last_success_timestamp_seconds: {
    type: "gauge",
    meaning: "When a task of market data last succeeded, in seconds since the Unix epoch.",
    labels: { provider, task: "the task" },
    query: "time() - headwater_market_last_success_timestamp_seconds"
  },
  process_cpu_seconds_total: {
    type: "counter",
    meaning: "Processor time of the daemon, user and system.",
    query: "rate(process_cpu_seconds_total[5m])"
  },
  process_resident_memory_bytes: {
    type: "gauge",
    meaning: "Resident memory of the daemon.",
    query: "max by (instance) (process_resident_memory_bytes)"
  },
  process_start_time_seconds: {
    type: "gauge",
    meaning: "When the daemon was started, in seconds since the Unix epoch.",
    query: "changes(process_start_time_seconds[1d])"
  },
  process_open_fds: {
    type: "gauge",
    meaning: "Open file descriptors of the daemon, on Linux.",
    query: "max by (instance) (process_open_fds)"
  },
  nodejs_heap_size_used_bytes: {
    type: "gauge",
    meaning: "Memory that the objects of the program take.",
    query: "max by (instance) (nodejs_heap_size_used_bytes)"
  },
  nodejs_eventloop_lag_p99_seconds: {
    type: "gauge",
    meaning:
      "By how much the program came late to what was due, 99th percentile since the last scrape. Above a second, requests and callbacks wait noticeably.",
    query: "max by (instance) (nodejs_eventloop_lag_p99_seconds)"
  }
}
