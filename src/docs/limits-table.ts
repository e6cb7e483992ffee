import { type OptionKey, optionOf } from '../config.ts'
import { type LimitName, type LimitScope, limitNames, limitScopes } from '../quota/limits.ts'

interface Row {
  readonly what: string
  /** Options that set it; where there are none, the value that it has always. */
  readonly value: readonly OptionKey[] | string
  /** What a client meets. */
  readonly met: string
}

const comeBack = 'close code 1013'
const exhausted = 'REST: 429'
const comeBackOrRest = `${comeBack}; ${exhausted}`
const threadQueue = 'calls and updates that wait for a thread'
const connectionCloses = 'the connection is closed'
const heaviestEnds = 'the connection that keeps the most is closed'
const unread = 'memory of bytes that clients have not read: websockets, and responses'
const slower = 'it is read more slowly; nothing is lost'

/** Every limit there is: one that is missing here is an error of types. */
const rows: Readonly<Record<LimitName, Row>> = {
  maxConnections: { what: 'websockets', value: ['maxConnections'], met: comeBack },
  maxConnectionsPerAddress: { what: 'websockets', value: ['maxConnectionsPerAddress'], met: comeBack },
  maxConnectionsPerWorkspace: {
    what: 'websockets, whatever their API keys',
    value: ['maxConnectionsPerWorkspace'],
    met: comeBack,
  },
  maxUnauthenticatedPerAddress: {
    what: 'websockets that are not authenticated yet',
    value: ['maxUnauthenticatedPerAddress'],
    met: comeBack,
  },
  maxHttpConnectionsPerAddress: {
    what: 'connections that are no websockets',
    value: ['maxHttpConnectionsPerAddress'],
    met: 'the connection is closed',
  },
  connectsPerAddressPerSecond: {
    what: 'new websockets, a second and at once',
    value: ['connectsPerAddressPerSecond', 'connectsPerAddressBurst'],
    met: comeBack,
  },
  authTimeoutSeconds: {
    what: 'seconds to authenticate a websocket',
    value: ['authTimeoutSeconds'],
    met: `${comeBack}; 4401 where no token has come`,
  },
  maxDocumentsPerWorkspace: {
    what: 'open documents; unused ones make room',
    value: ['maxDocumentsPerWorkspace'],
    met: comeBackOrRest,
  },
  newDocumentsPerWorkspacePerSecond: {
    what: 'documents created by websockets, a second and at once',
    value: ['newDocumentsPerWorkspacePerSecond', 'newDocumentsPerWorkspaceBurst'],
    met: `${comeBack}; nothing is created`,
  },
  maxStoredBytesPerWorkspace: {
    what: 'stored bytes: documents, versions and records (see below)',
    value: ['maxStoredBytesPerWorkspace'],
    met: `close code 4413; ${exhausted}`,
  },
  receiveBytesPerWorkspacePerSecond: {
    what: 'bytes from websockets, a second and at once',
    value: ['receiveBytesPerWorkspacePerSecond', 'receiveBytesPerWorkspaceBurst'],
    met: slower,
  },
  callsPerAddressPerSecond: {
    what: 'REST calls and pages, a second and at once, before credentials are looked at (`/metrics` counts as 50, `/healthz` and `/readyz` not at all)',
    value: ['callsPerAddressPerSecond', 'callsPerAddressBurst'],
    met: exhausted,
  },
  callsPerKeyPerSecond: {
    what: 'REST calls, a second and at once',
    value: ['callsPerKeyPerSecond', 'callsPerKeyBurst'],
    met: exhausted,
  },
  workspaceReadsPerMinute: {
    what: 'reads of the workspace, a minute',
    value: ['workspaceReadsPerMinute'],
    met: exhausted,
  },
  bodyBytesPerKeyPerSecond: {
    what: 'bytes of REST bodies, a second and at once',
    value: ['bodyBytesPerKeyPerSecond', 'bodyBytesPerKeyBurst'],
    met: exhausted,
  },
  maxBodyBytes: { what: 'bytes of a REST body', value: ['maxBodyBytes'], met: 'REST: 413' },
  maxResponseBytes: {
    what: 'bytes of a REST response with content',
    value: ['maxResponseBytes'],
    met: exhausted,
  },
  comparedCharacters: {
    what: 'characters of content as text that a replacement compares with the new content',
    value: '16,777,216',
    met: exhausted,
  },
  maxMessageBytes: {
    what: 'bytes of a websocket message',
    value: ['maxMessageBytes'],
    met: 'close code 4413',
  },
  maxDocumentBytes: {
    what: 'bytes of a document, as encoded by Yjs',
    value: ['maxDocumentBytes'],
    met: 'close code 4413; REST: 400',
  },
  sendBufferBytes: {
    what: 'unsent bytes of a slow reader',
    value: ['sendBufferBytes'],
    met: 'one difference when it has caught up',
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
    value: 'as many as the process may have open files (`ulimit -n`) less 1,200, at least half',
    met: 'the connection is closed',
  },
  idempotentCalls: {
    what: 'remembered calls with an `idempotency-key`',
    value: '100,000; 64 MiB of answers',
    met: exhausted,
  },
  virtualUsersPerDocument: {
    what: 'users whom a backend shows as present',
    value: '500',
    met: 'REST: 400',
  },
  virtualUsersTotal: { what: 'users whom backends show as present', value: '100,000', met: exhausted },
  pendingRejections: {
    what: 'refused websockets that are told why, at once',
    value: '500',
    met: 'the connection is closed',
  },
  unauthenticatedBytes: {
    what: 'bytes of a websocket that is refused; of one of many documents, before a token is good',
    value: '64 KB; 1 MiB and 1,000 messages',
    met: 'the connection is closed; close code 4401',
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
    value: ['transferTimeoutSeconds'],
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
    what: 'memory of updates that wait while their document is on a thread, or their workspace has spent its share',
    value: '1/16 of `memoryBudgetBytes`, at least two messages',
    met: `the client with the most: ${comeBack}`,
  },
  queuedUpdateMemoryTotal: {
    what: 'memory of updates that wait while their document is on a thread, or their workspace has spent its share',
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
    what: 'refused tokens on one websocket of many documents, unless they have only expired',
    value: '100',
    met: comeBack,
  },
  uncommittedBytes: { what: 'bytes on their way to the disk', value: '4 MB', met: slower },
  threadQueueLength: { what: threadQueue, value: '256 for changes, 256 for reads', met: comeBackOrRest },
  threadQueuePerWorkspace: { what: threadQueue, value: '32 for changes, 32 for reads', met: comeBackOrRest },
  threadJobSeconds: {
    what: 'seconds of work on a thread; fewer for a workspace whose work took too long before',
    value: ['threadJobSeconds'],
    met: `close code 4413 for the sender of an update; close code 1013 while a document opens; ${exhausted}`,
  },
  threadOverrunSeconds: {
    what: 'seconds of work that took too long; a tenth of the time that passes is forgiven',
    value: 'as many as `threadJobSeconds`',
    met: comeBackOrRest,
  },
  integrationSteps: {
    what: 'steps that Yjs needs to read a document with the update that is received',
    value: '20,000,000, and 64 for each byte',
    met: `close code 4413; ${exhausted}`,
  },
  integrationMsPerSecond: {
    what: 'milliseconds of the event loop for edits of more than 2,000 steps of Yjs, or 3 ms each, a second and at once',
    value: '100; 500',
    met: 'the document waits, for 2 s at most; nothing is lost',
  },
}

const whose: Readonly<Record<LimitScope, string>> = {
  server: 'the server',
  address: 'an address',
  workspace: 'a workspace',
  apiKey: 'an API key',
  connection: 'a connection',
  document: 'a document',
  call: 'a call',
}

/** The table of all limits as Markdown. */
export const limitsTable = (): string =>
  ['| Limit | Of | What | Value | At the limit |', '|---|---|---|---|---|']
    .concat(limitNames.map(rowOf))
    .join('\n')

function rowOf(name: LimitName): string {
  const { what, value, met } = rows[name]
  const shownValue = typeof value === 'string' ? `${value} (fixed)` : value.map(shown).join('; ')
  const named = typeof value === 'string' ? [name] : value
  return `| ${[named.map((each) => `\`${each}\``).join(', '), whose[limitScopes[name]], what, shownValue, met].join(' | ')} |`
}

/** The default, as people read it. */
function shown(key: OptionKey): string {
  const value = Number(optionOf(key).default)
  if (value === 0) return 'unlimited'
  return key.includes('Bytes') && value >= 2 ** 20
    ? `${value / 2 ** 20} MiB`
    : new Intl.NumberFormat('en').format(value)
}
