-- A store of Headwater 0.1, made by make.ts.
CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
insert into "kysely_migration" (name, timestamp) values ('0001_main', '2026-11-22T04:31:00.158Z');
insert into "kysely_migration" (name, timestamp) values ('0002_credits', '2026-11-22T04:31:00.170Z');
insert into "kysely_migration" (name, timestamp) values ('0003_callbacks', '2026-11-22T04:31:00.183Z');
insert into "kysely_migration" (name, timestamp) values ('0004_assets', '2026-11-22T04:31:00.189Z');
insert into "kysely_migration" (name, timestamp) values ('0005_transfers', '2026-11-22T04:31:00.213Z');
insert into "kysely_migration" (name, timestamp) values ('0006_tokens', '2026-11-22T04:31:00.219Z');
insert into "kysely_migration" (name, timestamp) values ('0007_pruned_internal', '2026-11-22T04:31:00.222Z');
insert into "kysely_migration" (name, timestamp) values ('0008_wallets', '2026-11-22T04:31:00.233Z');
insert into "kysely_migration" (name, timestamp) values ('0009_replay', '2026-11-22T04:31:00.237Z');
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
insert into "kysely_migration_lock" (id, is_locked) values ('migration_lock', 0);
CREATE TABLE chain (
    id integer primary key autoincrement,
    name text not null unique,
    height bigint,
    hash blob,
    final_height bigint,
    first_height bigint,
    revision bigint not null default 0
  );
insert into "chain" (id, name, height, hash, final_height, first_height, revision) values (1, 'ethereum/devnet', 106, X'4313C9E9FB469EDDC120F921D61113C940B0075FA35E9D2FE150AC64AC609A6A', 101, 100, 2);
insert into "chain" (id, name, height, hash, final_height, first_height, revision) values (2, 'litecoin/regtest', 3, X'CD0CF807835179D73CAD42FEFC8C76827617958CF3E022AE2C8C454828E9CC38', NULL, 1, 1);
CREATE TABLE block (
    chain bigint not null,
    height bigint not null,
    hash blob not null,
    parent blob not null,
    time bigint not null,
    primary key (chain, height)
  ) without rowid;
insert into "block" (chain, height, hash, parent, time) values (1, 100, X'FF7C103BBE4E1488437185B418F296E174AD4B2300A880E04B3D27E7D19761A0', X'7CA594DA5B4D6DA9B6E7A4CBBE0266CEBF305B3A345134890BC8E150E86F0F60', 1780001200);
insert into "block" (chain, height, hash, parent, time) values (1, 101, X'6B65C5E0F0A80D417302B5816D77FF2C7061E1A3F4D5EB5D85FBFE8773AEF6DF', X'FF7C103BBE4E1488437185B418F296E174AD4B2300A880E04B3D27E7D19761A0', 1780001212);
insert into "block" (chain, height, hash, parent, time) values (1, 102, X'0C9508CA30EE5DDDF5958A36FAA85A5B01E39D1FD804D98C7B6103F1ECF5F9D4', X'6B65C5E0F0A80D417302B5816D77FF2C7061E1A3F4D5EB5D85FBFE8773AEF6DF', 1780001224);
insert into "block" (chain, height, hash, parent, time) values (1, 103, X'F72B03F6639061B072D92DC4571339AA6509CE1874929D18C256E9C1F727EF67', X'0C9508CA30EE5DDDF5958A36FAA85A5B01E39D1FD804D98C7B6103F1ECF5F9D4', 1780001236);
insert into "block" (chain, height, hash, parent, time) values (1, 104, X'7BA29D4867A04DACE1378C072292972D1D1A49213BC5D3139A2526B25B849A7E', X'F72B03F6639061B072D92DC4571339AA6509CE1874929D18C256E9C1F727EF67', 1780001248);
insert into "block" (chain, height, hash, parent, time) values (1, 105, X'BA7B8EEF02BED6DCB6F9BDB26FFD4203CF24A4E33CC9FD22A79CB9A2AC8286F1', X'7BA29D4867A04DACE1378C072292972D1D1A49213BC5D3139A2526B25B849A7E', 1780001260);
insert into "block" (chain, height, hash, parent, time) values (1, 106, X'4313C9E9FB469EDDC120F921D61113C940B0075FA35E9D2FE150AC64AC609A6A', X'BA7B8EEF02BED6DCB6F9BDB26FFD4203CF24A4E33CC9FD22A79CB9A2AC8286F1', 1780001272);
insert into "block" (chain, height, hash, parent, time) values (2, 1, X'290A8619B6AEDF7FBE04CFBBA79841F7DBC4AFF436746A4B371F2A99C8733DE4', X'BB0C065BA93DFB8CA17E45BACAAA5527557ADCB4C813B3432731D78F8D92D664', 1780000012);
insert into "block" (chain, height, hash, parent, time) values (2, 2, X'C64B40BD6B04F739D22EEDE5A843A916F7581A6868D763DCCB4137B482233D35', X'290A8619B6AEDF7FBE04CFBBA79841F7DBC4AFF436746A4B371F2A99C8733DE4', 1780000024);
insert into "block" (chain, height, hash, parent, time) values (2, 3, X'CD0CF807835179D73CAD42FEFC8C76827617958CF3E022AE2C8C454828E9CC38', X'C64B40BD6B04F739D22EEDE5A843A916F7581A6868D763DCCB4137B482233D35', 1780000036);
CREATE TABLE reorganisation (
    id integer primary key autoincrement,
    chain bigint not null,
    at bigint not null,
    fork_height bigint not null,
    depth bigint not null,
    old_hash blob not null
  );
insert into "reorganisation" (id, chain, at, fork_height, depth, old_hash) values (1, 1, 1795321860359, 102, 1, X'F652E12F608943DFFE8DAE87EBAB8C79E7DCE45C830D9C58F52727B48AA68F38');
CREATE TABLE account (
    id integer primary key autoincrement,
    name text not null unique,
    created bigint not null,
    retractions bigint not null default 0
  );
insert into "account" (id, name, created, retractions) values (1, 'exchange', 1795321860277, 0);
insert into "account" (id, name, created, retractions) values (2, 'other', 1795321860279, 1);
CREATE TABLE api_key (
    hash blob primary key,
    account bigint not null,
    name text not null,
    endpoints text,
    created bigint not null,
    revoked bigint
  );
insert into "api_key" (hash, account, name, endpoints, created, revoked) values (X'B83CE80400812C73E4DCE61CFEDFF4923285D603B429547E718A0A0E1B60744C', 1, 'deposits', '["list"]', 1780000000000, NULL);
CREATE TABLE subscription (
    id integer primary key autoincrement,
    reference_id text not null unique,
    account bigint not null,
    chain bigint not null,
    revision bigint not null,
    event text not null,
    address blob,
    callback_url text not null,
    host text not null,
    secret text,
    confirmations bigint not null,
    created bigint not null,
    from_height bigint,
    active bigint not null,
    deactivation_reasons text not null default '[]',
    last_sequence bigint not null default 0
  , previous_secret text, previous_secret_until bigint);
insert into "subscription" (id, reference_id, account, chain, revision, event, address, callback_url, host, secret, confirmations, created, from_height, active, deactivation_reasons, last_sequence, previous_secret, previous_secret_until) values (1, 'e8e24fc7-546e-45a2-819f-a2acc433e74e', 1, 1, 1, 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', X'0202020202020202020202020202020202020202', 'https://receiver.example/coins', 'receiver.example', 'a secret', 3, 1795321860, 100, 1, '[]', 0, 'an older secret', 1780086400000);
insert into "subscription" (id, reference_id, account, chain, revision, event, address, callback_url, host, secret, confirmations, created, from_height, active, deactivation_reasons, last_sequence, previous_secret, previous_secret_until) values (2, 'e170c45b-ce43-4c23-977b-ba2110e4fbd3', 1, 1, 2, 'BLOCK_MINED', NULL, 'https://receiver.example/coins', 'receiver.example', NULL, 1, 1795321860, 100, 1, '[]', 5, NULL, NULL);
CREATE TABLE waiting (
    id integer primary key autoincrement,
    subscription bigint not null,
    chain bigint not null,
    height bigint not null,
    due_height bigint not null,
    confirmation bigint not null,
    target bigint not null,
    each_confirmation bigint not null,
    block_hash blob not null,
    occurrence text not null,
    item text not null
  );
insert into "waiting" (id, subscription, chain, height, due_height, confirmation, target, each_confirmation, block_hash, occurrence, item) values (6, 1, 1, 105, 107, 3, 3, 1, X'BA7B8EEF02BED6DCB6F9BDB26FFD4203CF24A4E33CC9FD22A79CB9A2AC8286F1', 'coin:161027d35368c8a8a6ff12c36bd2f50df69ca0a8cee4c791ee63c79398a8e5f2:0:incoming', '{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":105,"hash":"0xba7b8eef02bed6dcb6f9bdb26ffd4203cf24a4e33cc9fd22a79cb9a2ac8286f1","timestamp":1780001260},"transactionId":"0x161027d35368c8a8a6ff12c36bd2f50df69ca0a8cee4c791ee63c79398a8e5f2","amount":"105","unit":"ETH","direction":"incoming"}');
insert into "waiting" (id, subscription, chain, height, due_height, confirmation, target, each_confirmation, block_hash, occurrence, item) values (7, 1, 1, 106, 107, 2, 3, 1, X'4313C9E9FB469EDDC120F921D61113C940B0075FA35E9D2FE150AC64AC609A6A', 'coin:d100acae63d10bc83db4fae40228c51b994e99bd7a12f8346437f01cbc80553b:0:incoming', '{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":106,"hash":"0x4313c9e9fb469eddc120f921d61113c940b0075fa35e9d2fe150ac64ac609a6a","timestamp":1780001272},"transactionId":"0xd100acae63d10bc83db4fae40228c51b994e99bd7a12f8346437f01cbc80553b","amount":"106","unit":"ETH","direction":"incoming"}');
CREATE TABLE callback (
    id integer primary key autoincrement,
    subscription bigint not null,
    chain bigint not null,
    height bigint,
    idempotency_key text not null unique,
    event text not null,
    body text not null,
    state text not null,
    due bigint not null,
    leased_until bigint not null default 0,
    attempts bigint not null default 0,
    sequence bigint,
    created bigint not null
  , host text not null default '', attempt_log text not null default '[]', delivered bigint);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (1, 2, 1, 101, 'e9d0b826cc6018be691ac0db894f6447', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"e9d0b826cc6018be691ac0db894f6447","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":101,"hash":"0x6b65c5e0f0a80d417302b5816d77ff2c7061e1a3f4d5eb5d85fbfe8773aef6df","timestamp":1780001212}}}', 'delivered', 1795321860338, 0, 1, 1, 1795321860338, 'receiver.example', '[{"at":1780000005000,"duration":12,"status":200}]', 1780000005000);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (2, 1, 1, 101, '2bd8c3a794d04646e4eca58f73b2c860', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"2bd8c3a794d04646e4eca58f73b2c860","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":101,"hash":"0x6b65c5e0f0a80d417302b5816d77ff2c7061e1a3f4d5eb5d85fbfe8773aef6df","timestamp":1780001212},"transactionId":"0xd9d404fd2b45ba5b215ce7070f59df5c5f9eaf7147016ced163fd1467d63a936","amount":"101","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860338, 0, 0, NULL, 1795321860338, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (3, 1, 1, 101, '36dcccdc35c6b5f0415da339c59d22a1', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"36dcccdc35c6b5f0415da339c59d22a1","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":101,"hash":"0x6b65c5e0f0a80d417302b5816d77ff2c7061e1a3f4d5eb5d85fbfe8773aef6df","timestamp":1780001212},"transactionId":"0xd9d404fd2b45ba5b215ce7070f59df5c5f9eaf7147016ced163fd1467d63a936","amount":"101","unit":"ETH","direction":"incoming","currentConfirmations":2,"targetConfirmations":3}}}', 'due', 1795321860348, 0, 0, NULL, 1795321860348, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (4, 2, 1, 102, 'dc994abdb56d8d704002a6fff959c3a7', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"dc994abdb56d8d704002a6fff959c3a7","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":102,"hash":"0x0c9508ca30ee5dddf5958a36faa85a5b01e39d1fd804d98c7b6103f1ecf5f9d4","timestamp":1780001224}}}', 'retracted', 1795321860348, 0, 1, 2, 1795321860348, 'receiver.example', '[{"at":1780000005000,"duration":12,"status":200}]', 1780000005000);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (5, 1, 1, 102, '7f15940512b1fb150d5ebcf51f8fa780', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"7f15940512b1fb150d5ebcf51f8fa780","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":102,"hash":"0x0c9508ca30ee5dddf5958a36faa85a5b01e39d1fd804d98c7b6103f1ecf5f9d4","timestamp":1780001224},"transactionId":"0xb459db50c62bae66aa1e98cacaf18f95fd9bb702e3b232279c16deea72ad565e","amount":"102","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860348, 0, 0, NULL, 1795321860348, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (6, 1, 1, 101, 'b56012edabe4dc275aee8bfa92754523', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"b56012edabe4dc275aee8bfa92754523","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":101,"hash":"0x6b65c5e0f0a80d417302b5816d77ff2c7061e1a3f4d5eb5d85fbfe8773aef6df","timestamp":1780001212},"transactionId":"0xd9d404fd2b45ba5b215ce7070f59df5c5f9eaf7147016ced163fd1467d63a936","amount":"101","unit":"ETH","direction":"incoming","currentConfirmations":3,"targetConfirmations":3}}}', 'due', 1795321860356, 0, 0, NULL, 1795321860356, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (7, 1, 1, 102, 'add0c50175ec4f28c403d33a43091355', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"add0c50175ec4f28c403d33a43091355","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":102,"hash":"0x0c9508ca30ee5dddf5958a36faa85a5b01e39d1fd804d98c7b6103f1ecf5f9d4","timestamp":1780001224},"transactionId":"0xb459db50c62bae66aa1e98cacaf18f95fd9bb702e3b232279c16deea72ad565e","amount":"102","unit":"ETH","direction":"incoming","currentConfirmations":2,"targetConfirmations":3}}}', 'due', 1795321860356, 0, 0, NULL, 1795321860356, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (10, 2, 1, 103, '14a686cf044776cb1ae70d582d62468b', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"14a686cf044776cb1ae70d582d62468b","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":103,"hash":"0xf72b03f6639061b072d92dc4571339aa6509ce1874929d18c256e9c1f727ef67","timestamp":1780001236}}}', 'due', 1795321860369, 0, 1, 3, 1795321860369, 'receiver.example', '[{"at":1780000005000,"duration":12,"status":500}]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (11, 1, 1, 103, '858357e74cfc7db21f7043c5da68e4b6', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"858357e74cfc7db21f7043c5da68e4b6","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":103,"hash":"0xf72b03f6639061b072d92dc4571339aa6509ce1874929d18c256e9c1f727ef67","timestamp":1780001236},"transactionId":"0xe66fdab81e6f96052e6e56fbff5b9c77a2566d3741a6e22910282f2ac6f9410a","amount":"103","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860369, 0, 0, NULL, 1795321860369, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (12, 1, 1, 102, '3f6040d55435db7b152098d99ac7f575', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"3f6040d55435db7b152098d99ac7f575","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":102,"hash":"0x0c9508ca30ee5dddf5958a36faa85a5b01e39d1fd804d98c7b6103f1ecf5f9d4","timestamp":1780001224},"transactionId":"0xb459db50c62bae66aa1e98cacaf18f95fd9bb702e3b232279c16deea72ad565e","amount":"102","unit":"ETH","direction":"incoming","currentConfirmations":3,"targetConfirmations":3}}}', 'due', 1795321860373, 0, 0, NULL, 1795321860373, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (13, 1, 1, 103, '4a6b8c395d389650662b039cf71c3780', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"4a6b8c395d389650662b039cf71c3780","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":103,"hash":"0xf72b03f6639061b072d92dc4571339aa6509ce1874929d18c256e9c1f727ef67","timestamp":1780001236},"transactionId":"0xe66fdab81e6f96052e6e56fbff5b9c77a2566d3741a6e22910282f2ac6f9410a","amount":"103","unit":"ETH","direction":"incoming","currentConfirmations":2,"targetConfirmations":3}}}', 'due', 1795321860373, 0, 0, NULL, 1795321860373, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (14, 2, 1, 104, '9234c3362398c4c988ae390e1a97f74a', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"9234c3362398c4c988ae390e1a97f74a","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":104,"hash":"0x7ba29d4867a04dace1378c072292972d1d1a49213bc5d3139a2526b25b849a7e","timestamp":1780001248}}}', 'expired', 1795321860373, 0, 0, 4, 1795321860373, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (15, 1, 1, 104, '5e1a8a7e30bbd2867d3fbd4330af325b', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"5e1a8a7e30bbd2867d3fbd4330af325b","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":104,"hash":"0x7ba29d4867a04dace1378c072292972d1d1a49213bc5d3139a2526b25b849a7e","timestamp":1780001248},"transactionId":"0xeac26b545997a864e01e45126dfbdf2038da844218a4abb1a288337f20a2c572","amount":"104","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860373, 0, 0, NULL, 1795321860373, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (16, 1, 1, 103, 'fb1637afc31eba3feb2577829c0bdf3b', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"fb1637afc31eba3feb2577829c0bdf3b","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":103,"hash":"0xf72b03f6639061b072d92dc4571339aa6509ce1874929d18c256e9c1f727ef67","timestamp":1780001236},"transactionId":"0xe66fdab81e6f96052e6e56fbff5b9c77a2566d3741a6e22910282f2ac6f9410a","amount":"103","unit":"ETH","direction":"incoming","currentConfirmations":3,"targetConfirmations":3}}}', 'due', 1795321860384, 0, 0, NULL, 1795321860384, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (17, 1, 1, 104, 'db1d3555951f4e0470f33d6b4ca1b5b5', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"db1d3555951f4e0470f33d6b4ca1b5b5","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":104,"hash":"0x7ba29d4867a04dace1378c072292972d1d1a49213bc5d3139a2526b25b849a7e","timestamp":1780001248},"transactionId":"0xeac26b545997a864e01e45126dfbdf2038da844218a4abb1a288337f20a2c572","amount":"104","unit":"ETH","direction":"incoming","currentConfirmations":2,"targetConfirmations":3}}}', 'due', 1795321860384, 0, 0, NULL, 1795321860384, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (18, 2, 1, 105, '49373f7ed7bed0b5d3a65cd1fdc72492', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"49373f7ed7bed0b5d3a65cd1fdc72492","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":105,"hash":"0xba7b8eef02bed6dcb6f9bdb26ffd4203cf24a4e33cc9fd22a79cb9a2ac8286f1","timestamp":1780001260}}}', 'orphaned', 1795321860384, 0, 0, 5, 1795321860384, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (19, 1, 1, 105, 'de98248c6a032604a8a2ebeff2d22279', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"de98248c6a032604a8a2ebeff2d22279","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":105,"hash":"0xba7b8eef02bed6dcb6f9bdb26ffd4203cf24a4e33cc9fd22a79cb9a2ac8286f1","timestamp":1780001260},"transactionId":"0x161027d35368c8a8a6ff12c36bd2f50df69ca0a8cee4c791ee63c79398a8e5f2","amount":"105","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860384, 0, 0, NULL, 1795321860384, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (20, 1, 1, 104, 'c4bbe59dcf4b5d7911018a1acc66c2a9', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"c4bbe59dcf4b5d7911018a1acc66c2a9","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":104,"hash":"0x7ba29d4867a04dace1378c072292972d1d1a49213bc5d3139a2526b25b849a7e","timestamp":1780001248},"transactionId":"0xeac26b545997a864e01e45126dfbdf2038da844218a4abb1a288337f20a2c572","amount":"104","unit":"ETH","direction":"incoming","currentConfirmations":3,"targetConfirmations":3}}}', 'due', 1795321860390, 0, 0, NULL, 1795321860390, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (21, 1, 1, 105, '711a1434845db87da62800fedfc03b07', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"711a1434845db87da62800fedfc03b07","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":105,"hash":"0xba7b8eef02bed6dcb6f9bdb26ffd4203cf24a4e33cc9fd22a79cb9a2ac8286f1","timestamp":1780001260},"transactionId":"0x161027d35368c8a8a6ff12c36bd2f50df69ca0a8cee4c791ee63c79398a8e5f2","amount":"105","unit":"ETH","direction":"incoming","currentConfirmations":2,"targetConfirmations":3}}}', 'due', 1795321860390, 0, 0, NULL, 1795321860390, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (22, 2, 1, 106, '0d27d76c231a9cdd4f46a8e0aa33134e', 'BLOCK_MINED', '{"apiVersion":"2024-12-12","referenceId":"e170c45b-ce43-4c23-977b-ba2110e4fbd3","idempotencyKey":"0d27d76c231a9cdd4f46a8e0aa33134e","data":{"product":"BLOCKCHAIN_EVENTS","event":"BLOCK_MINED","item":{"blockchain":"ethereum","network":"devnet","height":106,"hash":"0x4313c9e9fb469eddc120f921d61113c940b0075fa35e9d2fe150ac64ac609a6a","timestamp":1780001272}}}', 'held', 1795321860390, 0, 0, NULL, 1795321860390, 'receiver.example', '[]', NULL);
insert into "callback" (id, subscription, chain, height, idempotency_key, event, body, state, due, leased_until, attempts, sequence, created, host, attempt_log, delivered) values (23, 1, 1, 106, '8597c20c3bd17dee2b0b14d496e0dbed', 'ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION', '{"apiVersion":"2024-12-12","referenceId":"e8e24fc7-546e-45a2-819f-a2acc433e74e","idempotencyKey":"8597c20c3bd17dee2b0b14d496e0dbed","data":{"product":"BLOCKCHAIN_EVENTS","event":"ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION","item":{"blockchain":"ethereum","network":"devnet","address":"0x0202020202020202020202020202020202020202","minedInBlock":{"height":106,"hash":"0x4313c9e9fb469eddc120f921d61113c940b0075fa35e9d2fe150ac64ac609a6a","timestamp":1780001272},"transactionId":"0xd100acae63d10bc83db4fae40228c51b994e99bd7a12f8346437f01cbc80553b","amount":"106","unit":"ETH","direction":"incoming","currentConfirmations":1,"targetConfirmations":3}}}', 'due', 1795321860390, 0, 0, NULL, 1795321860390, 'receiver.example', '[]', NULL);
CREATE TABLE unspent_output (
    chain bigint not null,
    transaction_id blob not null,
    output_index bigint not null,
    script blob not null,
    amount text not null,
    height bigint not null,
    primary key (chain, transaction_id, output_index)
  ) without rowid;
insert into "unspent_output" (chain, transaction_id, output_index, script, amount, height) values (2, X'1CC422B01EB541DC053BFC3A7A646AEED11938D41DC248CFB8675DAF917400A3', 1, X'00149C90F934EA51FA0F6504177043E0908DA6929983', '20', 2);
insert into "unspent_output" (chain, transaction_id, output_index, script, amount, height) values (2, X'2276F21B4F57009E438E8D565DCA6C125A2701A6D4D7DBD6319BE6C2AEA8163D', 0, X'00149C90F934EA51FA0F6504177043E0908DA6929983', '1', 3);
CREATE TABLE spent_output (
    chain bigint not null,
    spent_height bigint not null,
    transaction_id blob not null,
    output_index bigint not null,
    script blob not null,
    amount text not null,
    height bigint not null,
    primary key (chain, spent_height, transaction_id, output_index)
  ) without rowid;
insert into "spent_output" (chain, spent_height, transaction_id, output_index, script, amount, height) values (2, 3, X'1CC422B01EB541DC053BFC3A7A646AEED11938D41DC248CFB8675DAF917400A3', 0, X'0014C0CEBCD6C3D3CA8C75DC5EC62EBE55330EF910E2', '300', 2);
CREATE TABLE credit_balance (
    account bigint primary key,
    balance bigint not null,
    check (balance >= 0)
  );
insert into "credit_balance" (account, balance) values (1, 9975);
CREATE TABLE credit_entry (
    id integer primary key autoincrement,
    account bigint not null,
    entry_key text not null unique,
    at bigint not null,
    kind text not null,
    amount bigint not null,
    results bigint not null,
    detail text not null
  );
insert into "credit_entry" (id, account, entry_key, at, kind, amount, results, detail) values (1, 1, 'invoice 1', 1795321860283, 'grant', 10000, 1, 'paid');
insert into "credit_entry" (id, account, entry_key, at, kind, amount, results, detail) values (2, 1, 'request 1', 1795321860296, 'request', -25, 1, 'list');
CREATE TABLE credit_day (
    id bigint primary key,
    day bigint not null
  );
insert into "credit_day" (id, day) values (1, 20778);
CREATE TABLE subscription_count (
    account bigint not null,
    chain bigint not null,
    total bigint not null,
    primary key (account, chain)
  ) without rowid;
insert into "subscription_count" (account, chain, total) values (1, 1, 2);
CREATE TABLE domain (
    id integer primary key autoincrement,
    account bigint not null,
    name text not null,
    token text not null,
    created bigint not null,
    verified bigint
  );
insert into "domain" (id, account, name, token, created, verified) values (1, 1, 'receiver.example', 'rlPv5T1pgYck95sbk86N2Oypbw3Jm_ZD9cqjwjpDHmY', 1795321860299, 1795321860300);
CREATE TABLE asset (
    id integer primary key autoincrement,
    reference_id text not null unique,
    slug text not null unique,
    symbol text not null unique,
    original_symbol text not null,
    name text not null,
    asset_type text not null,
    subtype text not null,
    contracts text not null,
    origin text not null
  );
insert into "asset" (id, reference_id, slug, symbol, original_symbol, name, asset_type, subtype, contracts, origin) values (1, 'ff580a4a690c022b0cad4411', 'ethereum', 'ETH', 'eth', 'Ethereum', 'crypto', 'COIN', '[{"blockchain":"ethereum","network":"mainnet","identifier":"ETH","standard":"NATIVE"}]', 'file');
CREATE TABLE asset_logo (
    asset bigint not null primary key,
    mime_type text not null,
    data blob not null
  );
insert into "asset_logo" (asset, mime_type, data) values (1, 'image/png', X'89504E470D0A1A0A');
CREATE TABLE asset_provider (
    provider text not null,
    provider_id text not null,
    asset bigint not null,
    described bigint not null,
    primary key (provider, provider_id)
  ) without rowid;
insert into "asset_provider" (provider, provider_id, asset, described) values ('coingecko', 'ethereum', 1, 0);
CREATE TABLE asset_quote (
    asset bigint not null primary key,
    amount text not null,
    at bigint not null,
    change_1h text,
    change_24h text,
    change_1w text,
    volume_24h text,
    market_cap text,
    circulating_supply text,
    max_supply text
  );
insert into "asset_quote" (asset, amount, at, change_1h, change_24h, change_1w, volume_24h, market_cap, circulating_supply, max_supply) values (1, '3000.5', 1795321860, NULL, NULL, NULL, '12', NULL, NULL, NULL);
CREATE TABLE asset_rate (
    asset bigint not null,
    at bigint not null,
    amount text not null,
    primary key (asset, at)
  ) without rowid;
insert into "asset_rate" (asset, at, amount) values (1, 1795321860, '3000.5');
CREATE TABLE market_task (
    name text not null primary key,
    due bigint not null
  );
insert into "market_task" (name, due) values ('coingecko quotes', 1795321920898);
CREATE TABLE transfer_chunk (
    log bigint not null,
    position bigint not null,
    data blob not null,
    primary key (log, position)
  ) without rowid;
insert into "transfer_chunk" (log, position, data) values (4, 104857600, X'01016C02DC114A4D9C41ACC152FDC66497CC1303636909DDB8039AE883F432CF1220021400010101010101010101010101010101010101010114000202020202020202020202020202020202020202000000000000000109000010632D5EC76B0500000000');
insert into "transfer_chunk" (log, position, data) values (4, 105906176, X'0101D9D404FD2B45BA5B215CE7070F59DF5C5F9EAF7147016CED163FD1467D63A9360214000101010101010101010101010101010101010101140002020202020202020202020202020202020202020000000000000001090000740AE114A8790500000000');
insert into "transfer_chunk" (log, position, data) values (4, 106954752, X'0101B459DB50C62BAE66AA1E98CACAF18F95FD9BB702E3B232279C16DEEA72AD565E0214000101010101010101010101010101010101010101140002020202020202020202020202020202020202020000000000000001090000D8B194CB88870500000000');
insert into "transfer_chunk" (log, position, data) values (4, 108003328, X'0101E66FDAB81E6F96052E6E56FBFF5B9C77A2566D3741A6E22910282F2AC6F9410A02140001010101010101010101010101010101010101011400020202020202020202020202020202020202020200000000000000010900003C59488269950500000000');
insert into "transfer_chunk" (log, position, data) values (4, 109051904, X'0101EAC26B545997A864E01E45126DFBDF2038DA844218A4ABB1A288337F20A2C5720214000101010101010101010101010101010101010101140002020202020202020202020202020202020202020000000000000001090000A000FC384AA30500000000');
insert into "transfer_chunk" (log, position, data) values (4, 110100480, X'0101161027D35368C8A8A6FF12C36BD2F50DF69CA0A8CEE4C791EE63C79398A8E5F2021400010101010101010101010101010101010101010114000202020202020202020202020202020202020202000000000000000109000004A8AFEF2AB10500000000');
insert into "transfer_chunk" (log, position, data) values (4, 111149056, X'0101D100ACAE63D10BC83DB4FAE40228C51B994E99BD7A12F8346437F01CBC80553B0214000101010101010101010101010101010101010101140002020202020202020202020202020202020202020000000000000001090000684F63A60BBF0500000000');
insert into "transfer_chunk" (log, position, data) values (5, 104857600, X'010196F10E3F204C2AF61FA359016B910990C1DD759FA26D4B1349AFB65891B105B7031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 105906176, X'0101CB9E019EAB8E7ABA81AA502F68B4B6803A00D3B87F5000D3BA6BCAD69C01248A031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 106954752, X'0101B5BA0CB9EE02AA99BFA4EDD0A7E0076F5AEBE6F8E9FC76052B1C7344018DF455031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 108003328, X'01019E2E99108D1268AB41D137BB4387740B5286A8BC947FFD49C4F164282493A877031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 109051904, X'0101C3CA05DB8C95A71066A413253E0C4F679598D169ED7FDE062BE1DDC15F42A685031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 110100480, X'01015E90BE770917138B67958B638B1D92A39A76B665EEAF36D51385CA71C722ACA8031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (5, 111149056, X'01010B87C12B124EC76A8023643AE1C7FCF6CB829C867EDFBD0C9A1AE135B482E288031400020202020202020202020202020202020202020214000101010101010101010101010101010101010101140003030303030303030303030303030303030303030100010000000001010502000100000000000000FF');
insert into "transfer_chunk" (log, position, data) values (6, 104857600, X'010196F10E3F204C2AF61FA359016B910990C1DD759FA26D4B1349AFB65891B105B7021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 105906176, X'0101CB9E019EAB8E7ABA81AA502F68B4B6803A00D3B87F5000D3BA6BCAD69C01248A021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 106954752, X'0101B5BA0CB9EE02AA99BFA4EDD0A7E0076F5AEBE6F8E9FC76052B1C7344018DF455021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 108003328, X'01019E2E99108D1268AB41D137BB4387740B5286A8BC947FFD49C4F164282493A877021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 109051904, X'0101C3CA05DB8C95A71066A413253E0C4F679598D169ED7FDE062BE1DDC15F42A685021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 110100480, X'01015E90BE770917138B67958B638B1D92A39A76B665EEAF36D51385CA71C722ACA8021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
insert into "transfer_chunk" (log, position, data) values (6, 111149056, X'01010B87C12B124EC76A8023643AE1C7FCF6CB829C867EDFBD0C9A1AE135B482E288021400030303030303030303030303030303030303030314000101010101010101010101010101010101010101020001000000000101070B0063616C6C5F302063616C6C');
CREATE TABLE staged_postings (
    log bigint not null,
    height bigint not null,
    data blob not null,
    primary key (log, height)
  ) without rowid;
insert into "staged_postings" (log, height, data) values (4, 106, X'4567B79CD700000006A0000020529DCAB300000006A00000');
insert into "staged_postings" (log, height, data) values (5, 100, X'20529DCAB3000000064000004567B79CD700000006400000');
insert into "staged_postings" (log, height, data) values (5, 101, X'20529DCAB3000000065000004567B79CD700000006500000');
insert into "staged_postings" (log, height, data) values (5, 102, X'20529DCAB3000000066000004567B79CD700000006600000');
insert into "staged_postings" (log, height, data) values (5, 103, X'20529DCAB3000000067000004567B79CD700000006700000');
insert into "staged_postings" (log, height, data) values (5, 104, X'20529DCAB3000000068000004567B79CD700000006800000');
insert into "staged_postings" (log, height, data) values (5, 105, X'20529DCAB3000000069000004567B79CD700000006900000');
insert into "staged_postings" (log, height, data) values (5, 106, X'20529DCAB300000006A000004567B79CD700000006A00000');
insert into "staged_postings" (log, height, data) values (6, 100, X'1492715B27000000064000004567B79CD700000006400000');
insert into "staged_postings" (log, height, data) values (6, 101, X'1492715B27000000065000004567B79CD700000006500000');
insert into "staged_postings" (log, height, data) values (6, 102, X'1492715B27000000066000004567B79CD700000006600000');
insert into "staged_postings" (log, height, data) values (6, 103, X'1492715B27000000067000004567B79CD700000006700000');
insert into "staged_postings" (log, height, data) values (6, 104, X'1492715B27000000068000004567B79CD700000006800000');
insert into "staged_postings" (log, height, data) values (6, 105, X'1492715B27000000069000004567B79CD700000006900000');
insert into "staged_postings" (log, height, data) values (6, 106, X'1492715B2700000006A000004567B79CD700000006A00000');
CREATE TABLE posting_run (
    id integer primary key autoincrement,
    log bigint not null,
    level bigint not null,
    first_position bigint not null,
    last_position bigint not null,
    postings bigint not null,
    state text not null,
    changed bigint not null
  );
insert into "posting_run" (id, log, level, first_position, last_position, postings, state, changed) values (1, 4, 0, 104857600, 110100480, 12, 'live', 1795321860388);
CREATE TABLE posting_page (
    run bigint not null,
    first blob not null,
    data blob not null,
    primary key (run, first)
  ) without rowid;
insert into "posting_page" (run, first, data) values (1, X'20529DCAB300000006400000', X'20529DCAB30000000640000020529DCAB30000000650000020529DCAB30000000660000020529DCAB30000000670000020529DCAB30000000680000020529DCAB3000000069000004567B79CD7000000064000004567B79CD7000000065000004567B79CD7000000066000004567B79CD7000000067000004567B79CD7000000068000004567B79CD700000006900000');
CREATE TABLE token (
    chain bigint not null,
    contract blob not null,
    name text not null,
    symbol text not null,
    decimals bigint,
    height bigint not null,
    primary key (chain, contract)
  ) without rowid;
insert into "token" (chain, contract, name, symbol, decimals, height) values (1, X'0303030303030303030303030303030303030303', 'A token', 'TKN', 6, 101);
CREATE TABLE pruned_internal (
    chain bigint not null,
    address blob not null,
    received text not null,
    spent text not null,
    primary key (chain, address)
  ) without rowid;
insert into "pruned_internal" (chain, address, received, spent) values (1, X'0101010101010101010101010101010101010101', '700', '0');
CREATE TABLE wallet (
    id integer primary key autoincrement,
    account bigint not null,
    chain bigint not null,
    public_key text not null,
    derivation text not null,
    format text not null,
    created bigint not null,
    balance text not null,
    state text not null,
    scan_height bigint
  );
insert into "wallet" (id, account, chain, public_key, derivation, format, created, balance, state, scan_height) values (1, 1, 2, 'tpubDCxX2sYFS5bDkSe5GKKYHjBW7tgyN1R3UchpLJvdbf54ohxeGRtd8MbDUe1cguVHe4vnK68DsuD5MXjxi9EXx16rb9EnNsaF5KT99CinaJz', 'account', 'P2WPKH', 1795321860, '21', 'scanning', NULL);
CREATE TABLE wallet_address (
    id integer primary key autoincrement,
    wallet bigint not null,
    chain bigint not null,
    branch bigint not null,
    address_index bigint not null,
    address blob not null,
    revision bigint not null,
    since bigint,
    scanned bigint not null,
    used_height bigint,
    requested bigint
  );
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (1, 1, 2, 0, 0, X'0014C0CEBCD6C3D3CA8C75DC5EC62EBE55330EF910E2', 1, 1, 0, 2, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (2, 1, 2, 0, 1, X'00149C90F934EA51FA0F6504177043E0908DA6929983', 1, 1, 0, 2, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (3, 1, 2, 0, 2, X'00140D0A4C5855EE698AE52872A147248C189FDFF7C3', 1, 1, 0, NULL, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (4, 1, 2, 0, 3, X'001447E8CFA1E26FFC460468348A9CB218D0346A3778', 1, 1, 0, NULL, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (5, 1, 2, 0, 4, X'0014D97CC009122C6AC9F405852249D8892B5037D07D', 1, 1, 0, NULL, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (6, 1, 2, 0, 5, X'0014984420485959D0DA23E7FE902BF315814CC7B64B', 1, 1, 0, NULL, 1795321860);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (101, 1, 2, 1, 0, X'00143E34985DCA6FDDC9FB369940E4C7D8E2873F529C', 1, 1, 0, NULL, NULL);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (102, 1, 2, 1, 1, X'00144227D834F1AAE95273F0C87495F4FF0CB3665452', 1, 1, 0, NULL, NULL);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (103, 1, 2, 1, 2, X'001499FBF4DEB41FE12AD4386ADE9563AD5896898AA8', 1, 1, 0, NULL, NULL);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (104, 1, 2, 1, 3, X'00146699DCB439B655F30E207BB363B5BE98AFC595CF', 1, 1, 0, NULL, NULL);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (105, 1, 2, 1, 4, X'0014CAC761261FB3DB5B0253E28A96DDF55DBAC2B251', 1, 1, 0, NULL, NULL);
insert into "wallet_address" (id, wallet, chain, branch, address_index, address, revision, since, scanned, used_height, requested) values (106, 1, 2, 1, 5, X'0014E44B1D0971C5546688B5F51407FA483EA9A42737', 1, 1, 0, NULL, NULL);
CREATE TABLE replay (
    chain bigint not null primary key,
    from_height bigint not null,
    to_height bigint not null,
    next_height bigint not null,
    callbacks bigint not null
  ) without rowid;
insert into "replay" (chain, from_height, to_height, next_height, callbacks) values (1, 101, 105, 103, 1);
CREATE INDEX api_key_account on api_key (account);
CREATE INDEX subscription_watch on subscription (chain, address, active);
CREATE INDEX subscription_revision on subscription (chain, revision);
CREATE INDEX subscription_list on subscription (account, chain, id);
CREATE INDEX subscription_target on subscription (account, callback_url);
CREATE INDEX waiting_due on waiting (chain, due_height);
CREATE INDEX waiting_height on waiting (chain, height);
CREATE INDEX waiting_subscription on waiting (subscription);
CREATE INDEX callback_height on callback (chain, height);
CREATE INDEX unspent_output_height on unspent_output (chain, height);
CREATE INDEX credit_entry_statement on credit_entry (account, id);
CREATE INDEX subscription_same on subscription (account, chain, event, address, confirmations);
CREATE INDEX subscription_daily on subscription (active, account, chain, created);
CREATE INDEX callback_first on callback (host, subscription, id) where state = 'due' and attempts = 0;
CREATE INDEX callback_retry on callback (host, due, subscription) where state = 'due' and attempts > 0;
CREATE INDEX callback_held on callback (subscription, id) where state = 'held';
CREATE INDEX callback_feed on callback (subscription, sequence, id);
CREATE INDEX subscription_host on subscription (account, host);
CREATE UNIQUE INDEX domain_name on domain (account, name);
CREATE INDEX asset_provider_asset on asset_provider (asset);
CREATE INDEX posting_run_log on posting_run (log, state);
CREATE UNIQUE INDEX wallet_identity on wallet (account, chain, public_key, derivation, format);
CREATE INDEX wallet_state on wallet (chain, state);
CREATE UNIQUE INDEX wallet_address_index on wallet_address (wallet, branch, address_index);
CREATE INDEX wallet_address_watch on wallet_address (chain, address);
CREATE INDEX wallet_address_revision on wallet_address (chain, revision);
CREATE INDEX wallet_address_since on wallet_address (chain, since);
CREATE INDEX wallet_address_used on wallet_address (chain, used_height) where used_height is not null;
CREATE INDEX subscription_unconfirmed on subscription (chain, revision)
    where event = 'ADDRESS_COINS_TRANSACTION_UNCONFIRMED' and active = 1;
delete from sqlite_sequence;
insert into "sqlite_sequence" (name, seq) values ('account', 2);
insert into "sqlite_sequence" (name, seq) values ('credit_entry', 2);
insert into "sqlite_sequence" (name, seq) values ('domain', 1);
insert into "sqlite_sequence" (name, seq) values ('chain', 2);
insert into "sqlite_sequence" (name, seq) values ('subscription', 2);
insert into "sqlite_sequence" (name, seq) values ('waiting', 7);
insert into "sqlite_sequence" (name, seq) values ('callback', 23);
insert into "sqlite_sequence" (name, seq) values ('reorganisation', 1);
insert into "sqlite_sequence" (name, seq) values ('posting_run', 1);
insert into "sqlite_sequence" (name, seq) values ('wallet', 1);
insert into "sqlite_sequence" (name, seq) values ('wallet_address', 200);
insert into "sqlite_sequence" (name, seq) values ('asset', 1);
