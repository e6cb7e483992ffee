import { type AgentRestrictions, agentPolicyList } from './agent-policies.ts'
import { backupInterval, backupKeyText, backupPlace, backupRetention } from './backup-options.ts'
import { type DeclaredWorkspace, declaredWorkspaces } from './declared-workspaces.ts'
import { type Option, option, optional, rateOption, secret } from './option.ts'
import {
  booleanFlag,
  type ClaimNames,
  claimNames,
  filePath,
  headerList,
  headerValue,
  host,
  nodeUrl,
  nonEmpty,
  oneOf,
  type PruneRule,
  postgresUrl,
  pruneRule,
  ratio,
  schemaName,
  signingSecret,
  usualClaimNames,
  webhookAllowlist,
  webUrl,
  wholeNumber,
} from './option-parsers.ts'
import { type TraceTarget, traceTargets } from './trace-targets.ts'

const MB = 2 ** 20

/**
 * Table of all options, in the order in which the documentation lists them. The documentation is generated
 * from this table. No other code of Weft reads environment variables for options. Precedence: flag,
 * environment, `weft.config.json`, default.
 */
export const options = {
  port: option(wholeNumber(0, 65_535), 8787, 'Port for HTTP and websockets; 0: any free port.', {
    alsoEnvironment: 'PORT',
  }),
  host: option(
    host,
    '127.0.0.1',
    'Address to listen on. By default, only programs on this machine can connect; `0.0.0.0`: other machines too.',
  ),
  publicUrl: optional(
    webUrl,
    'URL at which clients reach the server, such as `https://docs.example.com`. Tokens that contain a server URL use it.',
    { defaultText: '`http://localhost:` and the port' },
  ),
  dataDir: option(filePath, './data', 'Directory of the documents and credentials.'),
  engine: option(
    oneOf('level', 'memory', 'postgres'),
    'level',
    'Storage of documents: the data directory (`level`), PostgreSQL 15 or later (`postgres`), or only the memory of the process (`memory`).',
  ),
  postgresUrl: secret(postgresUrl, 'The database of the engine `postgres`.', 'none'),
  postgresSchema: option(
    schemaName,
    'weft',
    'Schema of all tables in that database. The server creates it if it is missing. All servers that use it form one cluster.',
  ),
  postgresConnections: option(wholeNumber(1, 1000), 10, 'Maximum connections to that database.'),
  nodeName: optional(
    headerValue(1),
    'Unique name of this server in its cluster. Each log line contains it, and it decides which documents this server ' +
      'owns. A server that keeps its name over a restart owns the same documents again.',
    { defaultText: 'made at each start' },
  ),
  nodeUrl: optional(
    nodeUrl,
    'URL at which the other nodes of a cluster reach this server. They forward requests for its documents to it.',
    { defaultText: 'the address on which the server listens, else the first one of the machine' },
  ),
  durability: option(
    oneOf('disk', 'process'),
    'disk',
    'Failure that an acknowledged change survives: loss of power (`disk`) or only a crash of the process (`process`).',
  ),
  auth: option(
    oneOf('required', 'none'),
    'required',
    '`none` accepts every client on this machine without credentials, and listens on loopback only.',
  ),
  workspaceId: optional(headerValue(1), 'Id of the workspace to create and use.', {
    defaultText: 'made at first start',
  }),
  workspaceAuthToken: secret(
    headerValue(16),
    'Token of that workspace. If the store has another token, the server does not start.',
  ),
  apiKey: optional(
    headerValue(1),
    'API key to use in that workspace. The server creates it only in an empty store, unless `addKey` names it.',
    {
      defaultText: 'made at first start',
    },
  ),
  authToken: secret(
    headerValue(16),
    'Auth token of that API key. If the store has another token, the server does not start; `weft keys replace` replaces it.',
  ),
  addKey: optional(
    headerValue(1),
    'API key that a start may add to a store that has other keys. Each API key has its own data, so a new key has none.',
    { defaultText: 'none' },
  ),
  bootstrap: option<readonly DeclaredWorkspace[]>(
    declaredWorkspaces,
    [],
    'Workspaces that must exist at start, with these tokens.',
    { secret: true, defaultText: 'none' },
  ),
  adminToken: secret(
    headerValue(16),
    'Token of the operator, for example to create workspaces by REST (header `x-service-admin-token`).',
    'made by the first start in a data directory; else none, and its operations are off',
  ),
  jwtSecret: secret(signingSecret, 'Secret that signs realtime tokens (HS256).'),
  jwtSecretPrevious: secret(
    signingSecret,
    'Previous signing secret, which is still accepted during a rotation.',
    'none',
  ),
  jwtJwksUrl: optional(
    webUrl,
    'URL of the JWKS keys of an identity provider. Its tokens (RS256, ES256) also open realtime connections.',
    { defaultText: 'none' },
  ),
  jwtIssuer: optional(nonEmpty, '`iss` of the tokens of that provider.', { defaultText: 'none' }),
  jwtAudience: optional(nonEmpty, '`aud` of the tokens of that provider that are meant for this server.', {
    defaultText: 'none',
  }),
  jwtClaims: option<ClaimNames>(
    claimNames,
    usualClaimNames,
    'Claims of that provider that identify the user. The claim for `admin` is true for editors of all documents; the ' +
      'claim for `apiKey` names the API key of the token; default: the first API key.',
    { defaultText: '`userId=sub,name=name,email=email`' },
  ),
  agentPolicy: option<AgentRestrictions | null>(
    agentPolicyList,
    null,
    'Policies of all agents, besides those of their tokens. `protect:approved` protects a mark or attribute.',
    { defaultText: 'none' },
  ),
  metricsToken: secret(headerValue(16), 'Bearer token that `/metrics` requires.', 'none: open'),
  logLevel: option(
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'Least severe messages to write.',
  ),
  debug: option<readonly TraceTarget[]>(
    traceTargets,
    [],
    'Documents and clients whose steps the server writes to the log, one line for each step, at any log level.',
    { defaultText: 'none' },
  ),
  otlpEndpoint: optional(
    webUrl,
    'URL of a collector of OpenTelemetry traces (OTLP over HTTP), such as `http://collector:4318`. The server adds the path `/v1/traces`.',
    { alsoEnvironment: 'OTEL_EXPORTER_OTLP_ENDPOINT', defaultText: 'none: no traces are exported' },
  ),
  otlpHeaders: optional(
    headerList,
    'Headers of the requests to that collector, such as credentials: `name=value,name=value`, with percent-encoded values.',
    { secret: true, alsoEnvironment: 'OTEL_EXPORTER_OTLP_HEADERS', defaultText: 'none' },
  ),
  otlpProtocol: option(
    oneOf('http/protobuf', 'http/json'),
    'http/protobuf',
    'Encoding of the requests to that collector.',
    { alsoEnvironment: 'OTEL_EXPORTER_OTLP_PROTOCOL' },
  ),
  tracesServiceName: option(nonEmpty, 'weft', 'Name of this service in the exported traces.', {
    alsoEnvironment: 'OTEL_SERVICE_NAME',
  }),
  tracesSamplerArg: option(
    ratio,
    1,
    'Share of the traces that the server records, from 0 to 1. The caller decides about calls with `traceparent`.',
    { alsoEnvironment: 'OTEL_TRACES_SAMPLER_ARG' },
  ),
  maxBodyBytes: option(wholeNumber(1024, 64 * MB), 16 * MB, 'Largest body of a REST call, in bytes.'),
  unknownMembers: option(
    oneOf('reject', 'ignore'),
    'reject',
    'Whether REST calls that write are rejected for an unknown member (`reject`), or the header `x-weft-ignored` names it ' +
      '(`ignore`), for callers that cannot be changed. A misspelled member is rejected in any case.',
  ),
  maxMessageBytes: option(wholeNumber(1024, 64 * MB), 16 * MB, 'Largest realtime message, in bytes.'),
  maxDocumentBytes: option(
    wholeNumber(1024, 1024 * MB),
    64 * MB,
    'Largest document, as encoded by Yjs, in bytes.',
  ),
  maxConnections: option(
    wholeNumber(1, 1_000_000),
    20_000,
    'Open websockets and sessions over HTTP of this process.',
  ),
  maxConnectionsPerAddress: option(
    wholeNumber(1, 1_000_000),
    5000,
    'Open websockets and sessions over HTTP from one address (IPv6: from one /64 prefix). Other connections have the same ' +
      'limit, but at least 5,000; behind reverse proxies (`trustProxy`) they have none.',
  ),
  maxConnectionsPerWorkspace: option(
    wholeNumber(0, 1_000_000),
    10_000,
    'Open websockets and sessions over HTTP of one workspace; 0: unlimited.',
  ),
  connectsPerAddress: rateOption(
    { perSecond: 200, burst: 5000 },
    1_000_000,
    'New websockets and sessions over HTTP from one address per second, with any credentials.',
  ),
  maxDocumentsPerWorkspace: option(
    wholeNumber(0, 1_000_000),
    10_000,
    'Open documents of one workspace, by websocket or REST; 0: unlimited.',
  ),
  newDocumentsPerWorkspace: rateOption(
    { perSecond: 100, burst: 5000 },
    1_000_000,
    'Documents per second that the websockets of one workspace may create.',
  ),
  maxStoredBytesPerWorkspace: option(
    wholeNumber(0, 2 ** 50),
    0,
    'Bytes that one workspace may store; 0 means unlimited. A workspace may have a limit of its own.',
  ),
  receiveBytesPerWorkspace: rateOption(
    { perSecond: 32 * MB, burst: 256 * MB },
    1024 * MB,
    'Bytes per second that the server reads from the websockets of one workspace.',
  ),
  memoryBudgetBytes: option(
    wholeNumber(0, 2 ** 40),
    0,
    'Memory budget that determines the limits for data kept for clients (incomplete messages, unread bytes, bodies, thread jobs), in bytes; 0: half of the memory that the process may use.',
  ),
  idleUnloadSeconds: option(
    wholeNumber(0, 86_400),
    30,
    'Time a document without connections stays in memory, in seconds.',
  ),
  shutdownSeconds: option(wholeNumber(1, 3600), 8, 'Maximum duration of a shutdown, in seconds.'),
  defaultAccess: option(
    oneOf('public', 'organizationPrivate', 'restricted'),
    'public',
    'Access type of new documents and folders, unless the call or a folder above sets one. `public`: every user of the ' +
      'API key may edit them. `organizationPrivate`: users of the organization have their role there. `restricted`, for ' +
      'production: only users with a grant have access.',
  ),
  createOnConnect: option(
    booleanFlag,
    true,
    'Whether the first edit of a connected editor creates a document.',
  ),
  trustProxy: option(
    wholeNumber(0, 10),
    0,
    'Number of reverse proxies in front of the server that add an address to `X-Forwarded-For`.',
  ),
  callsPerKey: rateOption(
    { perSecond: 400, burst: 10_000 },
    1_000_000,
    'REST calls of one API key per second.',
  ),
  callsPerAgent: rateOption(
    { perSecond: 10, burst: 600 },
    1_000_000,
    'REST calls of one agent per second. They also count as calls of the API key.',
  ),
  callsPerAddress: rateOption(
    { perSecond: 1000, burst: 2000 },
    1_000_000,
    'REST calls and requests of sessions over HTTP from one address per second, with any credentials.',
  ),
  bodyBytesPerKey: rateOption(
    { perSecond: 32 * MB, burst: 256 * MB },
    1024 * MB,
    'Bytes per second of the bodies of REST calls of one API key.',
  ),
  editActivityWindowSeconds: option(
    wholeNumber(10, 86_400),
    600,
    'Time for which the edits of a user to an editor are one activity, in seconds.',
  ),
  autoVersionMinutes: option(
    wholeNumber(0, 10_080),
    0,
    'Minutes of activity after which an editor gets an automatic version; 0: never.',
  ),
  autoPrune: option<PruneRule | null>(
    pruneRule,
    null,
    'Edited editors that the server prunes by itself: interval of the checks, minimum size, minimum saving, such as `7d,1MB,50%`.',
    { defaultText: 'none' },
  ),
  computeThreads: option(
    wholeNumber(0, 64),
    1,
    'Threads on which the large documents of one workspace are changed, so that other documents do not wait; ' +
      'all workspaces together have one more. 0 computes everything on the event loop.',
  ),
  baseVersionSeconds: option(
    wholeNumber(0, 86_400),
    600,
    'Time for which a returned version can be used as `baseVersion`, in seconds; 0: not guaranteed.',
  ),
  updateEventWindowSeconds: option(
    wholeNumber(1, 86_400),
    5,
    'Time for which the changes of an editor are one event `crdt.update_data`, in seconds.',
  ),
  backupTo: optional(
    backupPlace,
    'Backup repository in which the server makes backups at an interval. In a cluster, one node makes them.',
    { defaultText: 'none: no backups' },
  ),
  backupEvery: option(backupInterval, '24h', 'Time from the start of a backup to the next one.'),
  backupKeep: option(
    backupRetention,
    '7d,4w,12m',
    'Backups to keep: the newest of each of the last days, weeks, months and years. The others are deleted after each backup.',
  ),
  backupVerify: option(
    oneOf('all', 'new'),
    'all',
    'Chunks that are read again to verify a backup: all its chunks (`all`), or only its new ones (`new`). With `all`, each backup downloads the size of the compressed store.',
  ),
  backupKey: secret(backupKeyText, 'Key of that repository. Without it, the backups cannot be read.', 'none'),
  audit: option(
    oneOf('admin', 'all', 'off'),
    'admin',
    'Calls that the audit log records: administration, deletion and access to secrets (`admin`), every change (`all`), ' +
      'or none (`off`).',
  ),
  auditRetentionDays: option(wholeNumber(1, 3650), 90, 'Days for which the audit log keeps its records.'),
  deletedRetentionDays: option(
    wholeNumber(0, 3650),
    7,
    'Days for which deleted documents, folders, organizations and branches can be restored. 0: not at all.',
  ),
  webhookAllowlist: option<readonly string[]>(
    webhookAllowlist,
    [],
    'Webhook destinations outside the public internet that are allowed. A listed name is allowed with every address to ' +
      'which it resolves, and a listed address with every public name that resolves to it.',
    { defaultText: 'none' },
  ),
} as const

/** Values without an option, because no deployment needs others. Tests replace them. They were options before. */
export const fixedValues = {
  /** Websockets from one address that have not been authenticated yet. */
  maxUnauthenticatedPerAddress: 2000,
  /** Time for a connection to be authenticated, in seconds. */
  authTimeoutSeconds: 10,
  /** Reads of one workspace (`/v2/workspace/get`) per minute. */
  workspaceReadsPerMinute: 60,
  /** Time for which the server stores a call with an `idempotency-key` and its response, in hours. */
  idempotencyRetentionHours: 24,
  /** Largest content of an editor in a webhook or a call of the callback `store`, in bytes. */
  maxWebhookContentBytes: MB,
  /** Largest content of a stream, in bytes. */
  streamBytes: 4 * MB,
  /** Number of open streams of an API key on one node. */
  streamsPerKey: 200,
  /** Number of open streams of an agent on one node. */
  streamsPerAgent: 20,
  /** Largest content in the response of a REST call, in bytes, unless it is one document with `format` `update`. */
  maxResponseBytes: 32 * MB,
  /** Maximum unsent bytes of a connection. Above it, the connection gets no updates until the client has read these bytes. */
  sendBufferBytes: MB,
  /** Time in seconds between the last disconnect of a user and `presence.leave`. A user who reconnects within it causes no event. */
  presenceLeaveDelaySeconds: 10,
  /** Time from the opening of a stream to its end, in seconds. */
  streamSeconds: 900,
  /** Number of updates in a log after which the server compacts it. For a large document the number is higher: one for each 256 bytes. */
  compactAfterUpdates: 500,
  /** Time in seconds after which a thread stops work on a document of at most the default of `maxDocumentBytes`. */
  threadJobSeconds: 20,
  /** Days after an event for which the delivery log keeps its outcome. */
  webhookLogRetentionDays: 30,
}

export type OptionKey = keyof typeof options

type ValueOf<O> = O extends Option<infer T> ? T : never

/** The checked values of all options, and the values without an option. */
export type Config = { readonly [K in OptionKey]: ValueOf<(typeof options)[K]> } & Readonly<
  typeof fixedValues
>

const words = (key: string, separator: string): string =>
  key.replace(/[A-Z]/g, (letter) => separator + letter)

/**
 * Returns the flag of an option: `maxBodyBytes` → `--max-body-bytes`. Returns null for a secret, which has no
 * flag.
 */
export const flagOf = (key: OptionKey): string | null =>
  isSecret(key) ? null : `--${words(key, '-').toLowerCase()}`

/** Returns the environment variable of an option: `maxBodyBytes` → `WEFT_MAX_BODY_BYTES`. */
export const environmentOf = (key: OptionKey): string => variableOf(key)

const variableOf = (key: string): string => `WEFT_${words(key, '_').toUpperCase()}`

export const optionKeys = Object.keys(options) as OptionKey[]

export const isSecret = (key: OptionKey): boolean => optionOf(key).secret === true

/** Returns the table row of an option, without the type of its value. */
export const optionOf = (key: OptionKey): Option<unknown> => options[key]

/** Options that earlier versions had, without a value in their place. */
const removedKeys = [
  'streamResumeSeconds',
  'createMissing',
  'jwtApiKey',
  'logFormat',
  'tracesSampler',
  'versionsTo',
  'versionsKey',
]

/**
 * Returns a note for the name of an option that earlier versions had, its key or its environment variable; null for other
 * names.
 */
export function removedNote(name: string): string | null {
  const fixed = new Map<string, number>(Object.entries(fixedValues))
  const key = [...fixed.keys(), ...removedKeys].find((each) => name === each || name === variableOf(each))
  if (key === undefined) return null
  const value = fixed.get(key)
  return ` (removed${value === undefined ? '' : `, its value is always ${value}`}; see CHANGELOG.md)`
}
