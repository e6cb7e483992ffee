import type { IncomingMessage } from 'node:http'
import { termsOf } from '../../../src/capabilities/decisions/judgment-index.ts'
import { renderHeadline } from '../../../src/capabilities/notifications/template.ts'
import { readPublicKey } from '../../../src/capabilities/webhooks/sending/payload-encryption.ts'
import { clientAddress } from '../../../src/core/access/client-address.ts'
import { SignedPayloads } from '../../../src/core/access/tokens/signed-payloads.ts'
import { contentTypes } from '../../../src/core/content/content-types.ts'
import { decodeSegment, idProblem } from '../../../src/core/model/address.ts'
import { decodeBase64 } from '../../../src/core/model/base64.ts'
import { isAllowedOrigin, normalizeDomain } from '../../../src/core/model/domain.ts'
import { jsonDepthExceeds } from '../../../src/core/model/json-depth.ts'
import { parseInPieces } from '../../../src/core/model/parse-in-pieces.ts'
import { requestIdOf } from '../../../src/core/model/raw-response.ts'
import { parseVersion } from '../../../src/core/model/version.ts'
import { DestinationPolicy } from '../../../src/core/outgoing/destination-policy.ts'
import { readSyncRequest } from '../../../src/core/sync/admission/sync-request.ts'
import { checkContentType } from '../../../src/rest/http/request-body.ts'
import { PageTokens } from '../../../src/rest/page-tokens.ts'
import { acceptsGzip } from '../../../src/rest/pages/static-file.ts'
import type { Random } from '../../support/data/random-doc.ts'
import { hostileTexts, type TextShape, textOf } from '../../support/faults/hostile-messages.ts'
import type { Probe } from './measure.ts'

/** A function that reads text of clients. An error counts as its response. */
export interface TextReader {
  readonly name: string
  /** The longest text that reaches it, in characters. */
  readonly lengthMax: number
  readonly read: (text: string) => unknown
}

const headerLengthMax = 60_000
const bodyLengthMax = 1_000_000

function requestWith(url: string, headers: Record<string, string>): IncomingMessage {
  const request: Pick<IncomingMessage, 'url' | 'headers' | 'method'> & { readonly socket: object } = {
    url,
    headers,
    method: 'GET',
    socket: { remoteAddress: '127.0.0.1' },
  }
  return request as IncomingMessage
}

const header = (name: string, read: (request: IncomingMessage) => unknown): TextReader => ({
  name: `header ${name}`,
  lengthMax: headerLengthMax,
  read: (text) => read(requestWith('/sync/a/b/c', { [name]: text })),
})

const member = (name: string, read: TextReader['read']): TextReader => ({
  name,
  lengthMax: bodyLengthMax,
  read,
})

const signed = new SignedPayloads([])
const pageTokens = new PageTokens('secret of a test that is long enough')
const destinations = new DestinationPolicy([], () => Promise.resolve([]))

const headline = (template: string): string =>
  renderHeadline(
    {
      actionUser: { userId: 'ann' },
      displayHeadlineMessageTemplate: template,
      displayHeadlineMessageTemplateData: { name: 'value' },
    } as unknown as Parameters<typeof renderHeadline>[0],
    null,
  )

export const textReaders: readonly TextReader[] = [
  header('accept-encoding', ({ headers }) => acceptsGzip(headers['accept-encoding'])),
  header('content-type', checkContentType),
  header('authorization', readSyncRequest),
  header('x-forwarded-for', (request) => clientAddress(request, 1)),
  header('x-request-id', ({ headers }) => requestIdOf(headers['x-request-id'])),
  header('origin', ({ headers }) => isAllowedOrigin(['example.com'], headers.origin ?? '')),
  {
    name: 'query string',
    lengthMax: headerLengthMax,
    read: (text) => readSyncRequest(requestWith(`/sync/a/b/c?${text}`, {})),
  },
  {
    name: 'path',
    lengthMax: headerLengthMax,
    read: (text) => readSyncRequest(requestWith(`/sync/${text}`, {})),
  },
  { name: 'path segment', lengthMax: headerLengthMax, read: decodeSegment },
  { name: 'token', lengthMax: headerLengthMax, read: (text) => signed.of(text) },
  member('base64', decodeBase64),
  member('id', idProblem),
  member('domain', normalizeDomain),
  member('JSON depth', (text) => jsonDepthExceeds(text, 1_000_000)),
  member('JSON in pieces', (text) => [...parseInPieces(`[[${text}],"${text}"]`)]),
  member('version', parseVersion),
  member('page token', (text) => pageTokens.open([], text)),
  member('notification template', headline),
  member('search terms', termsOf),
  member('public key', readPublicKey),
  member('webhook URL', (text) => destinations.of(new URL(`http://${text}`))),
  member('xml', (text) => contentTypes.xml?.check(text)),
  member('xml in an element', (text) => contentTypes.xml?.check(`<p>${text}</p>`)),
  member('xml attribute', (text) => contentTypes.xml?.check(`<p a="${text}"/>`)),
  member('text', (text) => contentTypes.text?.check(text)),
  member('delta', (text) => contentTypes.delta?.check([{ insert: text, attributes: { a: text } }])),
  member('map', (text) => contentTypes.map?.check({ a: text })),
]

/** Reads a text and ignores errors. */
export async function readQuietly(reader: TextReader, text: string): Promise<unknown> {
  try {
    return await reader.read(text)
  } catch {
    return null
  }
}

export const textProbe = (reader: TextReader, shape: TextShape): Probe => ({
  name: `${reader.name} ${JSON.stringify(shape)}`,
  from: 1_000,
  to: reader.lengthMax,
  prepare: (n) => {
    const text = textOf(shape, n)
    return { size: text.length, run: () => readQuietly(reader, text) }
  },
})

const alphabet = [
  ...Array.from(' \t\n=;,.:/\\@[]%"\'a0AqZ_-{}()<>&#?+*!\0\u00a0é\u0301😀'),
  'www.',
  'q=1',
  '%20',
  '&amp;',
]

/** Changes one of the three parts of a text. */
export function mutateText(shape: TextShape, other: TextShape, random: Random): TextShape {
  const piece = random.pick(alphabet)
  switch (random.below(6)) {
    case 0:
      return { ...shape, pump: piece }
    case 1:
      return { ...shape, pump: (shape.pump + piece).slice(-8) }
    case 2:
      return { ...shape, suffix: random.pick(['', piece, other.pump]) }
    case 3:
      return { ...shape, prefix: random.pick(['', piece, other.pump, shape.prefix + piece]).slice(-8) }
    case 4:
      return { ...shape, pump: random.pick(Array.from(shape.pump)) }
    default:
      return { ...other, suffix: shape.suffix }
  }
}

export const simplerTexts = ({ prefix, pump, suffix }: TextShape): readonly TextShape[] => [
  ...(prefix === '' ? [] : [{ prefix: '', pump, suffix }]),
  ...(suffix === '' ? [] : [{ prefix, pump, suffix: '' }]),
  ...(pump.length === 1 ? [] : Array.from(pump, (each) => ({ prefix, pump: each, suffix }))),
]

export { hostileTexts }
