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
  maxPendingPerAddress: {
    what: 'websockets that are not authenticated yet',
    value: ['maxPendingPerAddress'],
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
    met: `${comeBack}; ${exhausted}`,
  },
  receiveBytesPerSecond: {
    what: 'bytes from websockets, a second and at once',
    value: ['receiveBytesPerSecond', 'receiveBurstBytes'],
    met: slower,
  },
  callsPerAddressPerSecond: {
    what: 'REST calls and pages, a second and at once, before credentials are looked at (`/metrics` counts as 50, `/healthz` and `/readyz` not at all)',
    value: ['callsPerAddressPerSecond', 'callsPerAddressBurst'],
    met: exhausted,
  },
  rateLimitPerSecond: {
    what: 'REST calls, a second and at once',
    value: ['rateLimitPerSecond', 'rateLimitBurst'],
    met: exhausted,
  },
  rateLimitWorkspaceGetPerMinute: {
    what: 'reads of the workspace, a minute',
    value: ['rateLimitWorkspaceGetPerMinute'],
    met: exhausted,
  },
  bodyBytesPerSecond: {
    what: 'bytes of REST bodies, a second and at once',
    value: ['bodyBytesPerSecond', 'bodyBurstBytes'],
    met: exhausted,
  },
  maxBodyBytes: { what: 'bytes of a REST body', value: ['maxBodyBytes'], met: 'REST: 413' },
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
  bodyBytesAtOnce: { what: 'bytes of REST bodies in memory', value: '128 MB', met: exhausted },
  bodyBytesInAll: { what: 'bytes of REST bodies in memory', value: '384 MB', met: exhausted },
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
  guestsPerDocument: {
    what: 'users whom a backend shows as present',
    value: '500',
    met: 'REST: 400',
  },
  guestsInAll: { what: 'users whom backends show as present', value: '100,000', met: exhausted },
  pendingRefusals: {
    what: 'refused websockets that are told why, at once',
    value: '500',
    met: 'the connection is closed',
  },
  unauthenticatedBytes: {
    what: 'bytes of a websocket that is refused; of one of many documents, before a token is good',
    value: '64 KB; 1 MiB and 1,000 messages',
    met: 'the connection is closed; close code 4401',
  },
  unfinishedBytes: {
    what: 'bytes of a message that is not complete, before a token is good',
    value: '2 MiB',
    met: 'the connection is closed',
  },
  refusedTokens: {
    what: 'refused tokens on one websocket of many documents, unless they have only expired',
    value: '100',
    met: comeBack,
  },
  pendingBytes: { what: 'bytes on their way to the disk', value: '4 MB', met: slower },
  threadQueue: { what: 'large contents that wait for a thread', value: '64', met: exhausted },
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
  return key.includes('Bytes') && value >= 2 ** 20
    ? `${value / 2 ** 20} MiB`
    : new Intl.NumberFormat('en').format(value)
}
