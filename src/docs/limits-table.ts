import { type Config, fixedValues, type OptionKey, optionOf } from '../core/config/config.ts'
import type { Rate } from '../core/config/option-parsers.ts'
import { type LimitName, type LimitScope, limitNames, limitScopes } from '../core/quota/limits.ts'

/** A limit that the option, or the fixed value, of the same name sets. */
interface Row {
  readonly what: string
  /** The effect on a client at the limit. */
  readonly met: string
}

interface FixedRow extends Row {
  readonly value: string
}

const comeBack = '1013'
const exhausted = '429'
const comeBackOrRest = `${comeBack}; ${exhausted}`
const threadQueue = 'calls and updates that wait for a thread'
const connectionCloses = 'the connection is closed'
const heaviestEnds = 'the connection that keeps the most is closed'
const unread = 'memory of bytes that clients have not read, of websockets and of responses'
const slower = 'the server reads more slowly; nothing is lost'

/** All limits by name. The type checker reports a limit or a value that is missing here. */
const rows: { readonly [Limit in LimitName]: Limit extends keyof Config ? Row | FixedRow : FixedRow } = {
  maxConnections: { what: 'websockets', met: comeBack },
  maxConnectionsPerAddress: { what: 'websockets', met: comeBack },
  maxConnectionsPerWorkspace: { what: 'websockets of all API keys', met: comeBack },
  maxUnauthenticatedPerAddress: {
    what: 'websockets that are not authenticated yet',
    met: comeBack,
  },
  httpConnectionsPerAddress: {
    what: 'HTTP connections other than websockets',
    value: 'the value of `maxConnectionsPerAddress`, at least 5,000',
    met: 'the connection is closed',
  },
  connectsPerAddress: { what: 'new websockets per second; burst', met: comeBack },
  authTimeoutSeconds: {
    what: 'seconds to authenticate a websocket',
    met: comeBack,
  },
  maxDocumentsPerWorkspace: {
    what: 'open documents; unused ones are closed first',
    met: comeBackOrRest,
  },
  newDocumentsPerWorkspace: {
    what: 'documents created by websockets per second; burst',
    met: `${comeBack}; nothing is created`,
  },
  maxStoredBytesPerWorkspace: {
    what: 'stored bytes: documents, versions and records (see below)',
    met: `4413; ${exhausted}`,
  },
  receiveBytesPerWorkspace: {
    what: 'bytes from websockets per second; burst; each frame counts as 200 bytes more',
    met: slower,
  },
  callsPerAddress: {
    what: 'REST calls and pages per second before authentication; burst (`/metrics` counts as 50; `/healthz` and `/readyz` do not count)',
    met: exhausted,
  },
  callsPerKey: { what: 'REST calls per second; burst', met: exhausted },
  callsPerAgent: { what: 'REST calls per second; burst', met: exhausted },
  callsPerWorkspace: {
    what: 'REST calls per second of all API keys; burst',
    value: 'unlimited, or the value of `/v2/workspace/calllimit/update`',
    met: exhausted,
  },
  workspaceReadsPerMinute: {
    what: 'reads of the workspace per minute',
    met: exhausted,
  },
  bodyBytesPerKey: {
    what: 'bytes of REST bodies per second; burst; each chunk counts as 200 bytes more',
    met: exhausted,
  },
  maxWebhookContentBytes: {
    what: 'bytes of the content of an editor in a call of `store`',
    met: 'the content is left out, and `contentOmitted` gives the reason',
  },
  maxBodyBytes: { what: 'bytes of a REST body', met: '413' },
  maxResponseBytes: { what: 'bytes of a REST response with content', met: exhausted },
  comparedCharacters: {
    what: 'characters of content as text that a replacement compares with the new content',
    value: '16,777,216',
    met: exhausted,
  },
  maxMessageBytes: { what: 'bytes of a websocket message', met: '4413' },
  maxDocumentBytes: {
    what: 'bytes of a document, as encoded by Yjs',
    met: '4413; 400',
  },
  sendBufferBytes: {
    what: 'unsent bytes of a slow reader',
    met: 'one difference after the client has read the buffer',
  },
  bodyMemoryPerWorkspace: {
    what: 'memory of REST bodies, parsed or not',
    value: '1/4 of `memoryBudgetBytes`, at least six bodies',
    met: exhausted,
  },
  bodyMemoryTotal: {
    what: 'memory of REST bodies, parsed or not',
    value: '1/2 of `memoryBudgetBytes`, at least twelve bodies',
    met: exhausted,
  },
  openFiles: {
    what: 'connections of any kind',
    value: 'the limit of open files of the process (`ulimit -n`) minus 1,200, at least half of it',
    met: 'the connection is closed',
  },
  idempotentCalls: {
    what: 'stored calls with an `idempotency-key`',
    value: '100,000; 64 MiB of responses',
    met: exhausted,
  },
  feedReadersPerKey: {
    what: 'calls and streams that wait for events of the change feed, on one node',
    value: '50',
    met: exhausted,
  },
  streamBytes: { what: 'content of a stream', met: '400' },
  streamSeconds: { what: 'time from the opening of a stream to its end', met: '400' },
  streamsPerKey: {
    what: 'open streams on one node; each node of a cluster counts its own',
    met: exhausted,
  },
  streamsPerAgent: {
    what: 'open streams on one node; each node of a cluster counts its own',
    met: exhausted,
  },
  virtualUsersPerDocument: {
    what: 'virtual users (`presence/add`)',
    value: '500',
    met: '400',
  },
  virtualUsersTotal: {
    what: 'virtual users (`presence/add`)',
    value: '100,000',
    met: exhausted,
  },
  pendingRejections: {
    what: 'rejected websockets that wait for their close code',
    value: '500',
    met: 'the connection is closed',
  },
  unauthenticatedBytes: {
    what: 'bytes of a rejected or closed websocket; bytes of a multiplexed one before its first accepted token',
    value: '64 KB, after authentication `maxMessageBytes` more; 1 MiB and 1,000 frames',
    met: 'the connection is closed; 4401',
  },
  incompleteMessageBytes: {
    what: 'bytes of an incomplete websocket message before authentication',
    value: '64 KiB',
    met: connectionCloses,
  },
  incompleteMemoryPerAddress: {
    what: 'memory of incomplete websocket messages',
    value: '3/16 of `memoryBudgetBytes`, at least three messages; before authentication 1/64',
    met: heaviestEnds,
  },
  incompleteMemoryPerWorkspace: {
    what: 'memory of incomplete websocket messages',
    value: '1/8 of `memoryBudgetBytes`, at least two messages',
    met: heaviestEnds,
  },
  incompleteMemoryTotal: {
    what: 'memory of incomplete websocket messages',
    value: '1/4 of `memoryBudgetBytes`, at least four messages; before authentication 1/16',
    met: heaviestEnds,
  },
  unreadMemoryPerAddress: {
    what: unread,
    value: '3/16 of `memoryBudgetBytes` each, at least one and a half documents',
    met: heaviestEnds,
  },
  unreadMemoryPerWorkspace: {
    what: unread,
    value: '1/8 of `memoryBudgetBytes` each, at least one document',
    met: heaviestEnds,
  },
  unreadMemoryTotal: {
    what: unread,
    value: '1/4 of `memoryBudgetBytes` each, at least two documents',
    met: heaviestEnds,
  },
  transferTimeoutSeconds: {
    what: 'seconds to finish a websocket message, and to read what was sent, plus 1 s for each 16 KiB',
    value: '60',
    met: connectionCloses,
  },
  pendingUpdateMemoryPerWorkspace: {
    what: 'memory of updates whose dependencies are missing',
    value: '1/16 of `memoryBudgetBytes`, at least two messages',
    met: 'the room with the most drops its own; clients send them again',
  },
  pendingUpdateMemoryTotal: {
    what: 'memory of updates whose dependencies are missing',
    value: '1/8 of `memoryBudgetBytes`, at least four messages',
    met: 'the room with the most drops its own; clients send them again',
  },
  queuedUpdateMemoryPerWorkspace: {
    what: 'memory of updates that wait while a thread has their document, or their workspace has used its share',
    value: '1/16 of `memoryBudgetBytes`, at least two messages',
    met: `the client with the most: ${comeBack}`,
  },
  queuedUpdateMemoryTotal: {
    what: 'memory of updates that wait while a thread has their document, or their workspace has used its share',
    value: '1/8 of `memoryBudgetBytes`, at least four messages',
    met: `the client with the most: ${comeBack}`,
  },
  threadMemoryPerWorkspace: {
    what: 'memory of documents that threads work on',
    value: '1/8 of `memoryBudgetBytes`, at least two documents',
    met: comeBackOrRest,
  },
  threadMemoryTotal: {
    what: 'memory of documents that threads work on',
    value: '1/4 of `memoryBudgetBytes`, at least four documents',
    met: comeBackOrRest,
  },
  rejectedTokens: {
    what: 'rejected tokens on one multiplexed websocket, except expired ones',
    value: '100',
    met: comeBack,
  },
  uncommittedBytes: { what: 'bytes that wait for the disk', value: '4 MB', met: slower },
  threadQueueLength: {
    what: threadQueue,
    value: '256 for changes, 256 for reads',
    met: comeBackOrRest,
  },
  threadQueuePerWorkspace: {
    what: threadQueue,
    value: '32 for changes, 32 for reads',
    met: comeBackOrRest,
  },
  threadJobSeconds: {
    what: 'seconds of work on a thread; fewer for a workspace whose earlier work timed out',
    value: '20, and longer in the ratio of `maxDocumentBytes` to 64 MiB',
    met: `4413 for the sender of an update; 1013 while a document opens; ${exhausted}`,
  },
  threadOverrunSeconds: {
    what: 'seconds of work that timed out; decreases by a tenth of the time that passes',
    value: 'the value of `threadJobSeconds`',
    met: comeBackOrRest,
  },
  integrationSteps: {
    what: 'steps of Yjs to read a document with a received update',
    value: '20,000,000, plus 64 for each byte of the document',
    met: `4413; ${exhausted}`,
  },
  integrationMsPerSecond: {
    what: 'milliseconds of the event loop per second for edits of more than 2,000 steps of Yjs or 3 ms each; an update by REST counts a quarter of its time; burst',
    value: '100; 500',
    met: 'the document waits, for 2 s at most; a client with 500 or more waiting updates that alone takes more than 400 ms meanwhile, and 25 ms per second: 1013; nothing is lost',
  },
}

const whose: Readonly<Record<LimitScope, string>> = {
  server: 'server',
  address: 'address',
  workspace: 'workspace',
  apiKey: 'API key',
  agent: 'agent',
  connection: 'connection',
  document: 'document',
  call: 'call',
}

/** Returns the table of all limits as Markdown. */
export const limitsTable = (): string =>
  ['| Limit | Scope | Description | Value | At the limit |', '|---|---|---|---|---|']
    .concat(limitNames.map(rowOf))
    .join('\n')

function rowOf(name: LimitName): string {
  const row: Row | FixedRow = rows[name]
  const value = 'value' in row ? `${row.value} (fixed)` : configuredValue(name)
  return `| ${[`\`${name}\``, whose[limitScopes[name]], row.what, value, row.met].join(' | ')} |`
}

/** Returns the fixed value of a limit, or the default of its option, as text. */
function configuredValue(name: LimitName): string {
  const fixed = Object.entries(fixedValues).find(([key]) => key === name)
  return fixed === undefined
    ? shown(optionOf(name as OptionKey).default, name)
    : `${shown(fixed[1], name)} (fixed)`
}

/** Returns a value as text. */
function shown(value: unknown, name: string): string {
  if (typeof value === 'object') {
    const { perSecond, burst } = value as Rate
    return `${shown(perSecond, name)}; ${shown(burst, name)}`
  }
  const number = Number(value)
  if (number === 0) return 'unlimited'
  return /bytes/i.test(name) && number >= 2 ** 20
    ? `${number / 2 ** 20} MiB`
    : new Intl.NumberFormat('en').format(number)
}
