import type { IncomingMessage } from 'node:http'
import { ApiError, invalid } from '../../core/base/errors.ts'
import { isJsonObject } from '../../core/base/json.ts'
import { findJsonProblem } from '../../core/base/json-problem.ts'
import { isJsonContentType } from '../../core/model/json-content-type.ts'
import { JsonMeter } from '../../core/model/json-depth.ts'
import { limits } from '../../core/model/limits.ts'
import { parseInPieces } from '../../core/model/parse-in-pieces.ts'
import { GrowingBytes } from '../../core/quota/growing-bytes.ts'
import { limitDetails } from '../../core/quota/limits.ts'
import { pieceCostBytes } from '../../core/quota/tick-shares.ts'
import { invalidAt } from '../validator.ts'

/**
 * Maximum depth of the JSON in a body, including `data` and the object that contains it. Content has its own
 * limits.
 */
const depthMax = limits.typeDepth + 2
/**
 * Maximum number of arrays, objects and commas in a body. It is enough for content with the maximum number of nodes.
 * V8 takes ten times as long for a body of many small values as for a text.
 */
export const bodyValuesMax = 1_500_000
/**
 * Maximum bytes of an oversized body that are read and discarded, so that the client receives the response
 * before the connection closes.
 */
const discardedBytesMax = 67_108_864

/** Bytes of a body that are decoded together. Each piece needs `pieceBytes` of memory in addition to its text. */
const decodedBytes = 16_384
const pieceBytes = 128
/** Maximum memory in bytes of a character. V8 stores a text with 2 bytes for each one if one of them needs it. */
const bytesPerCharacter = 2

/**
 * Maximum number of UTF-16 units of a body that is joined, measured, parsed and used in one tick of the event loop. A
 * longer body takes several turns.
 */
const lengthPerTick = 262_144

/** Receives calls about the progress of a body. */
export interface BodyMeter {
  /** Counts received bytes, whether they are kept or discarded. */
  count(bytes: number): void
  /**
   * Reserves memory for bytes.
   * @throws ApiError if there is not enough memory; then nothing of the body is kept
   */
  keep(bytes: number): void
  /** Called when the body is complete. */
  complete(): void
  /** Resolves when the event loop may work on a large body for a few milliseconds. */
  turn(): Promise<void>
}

/** A body, its member `data`, and its text. */
export interface RequestData {
  readonly body: object
  readonly data: object
  readonly text: string
}

/** Thrown if the connection ended before the body was complete. No response is possible then. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError'
}

/** Thrown if other code of the process has read the body. */
export class BodyTakenError extends Error {
  override readonly name = 'BodyTakenError'
  override readonly message = 'other code has read the body of the request: put Weft before parsers of bodies'
}

/**
 * Checks that the content type is plain JSON in UTF-8.
 * @throws ApiError INVALID_ARGUMENT if it is not
 */
export function checkContentType({ headers }: IncomingMessage): void {
  if (!isJsonContentType(headers['content-type'] ?? ''))
    throw invalid(
      'request/content-type',
      'the content type must be application/json (with charset utf-8, if any)',
    )
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw invalid(
      'request/content-type',
      'the body must not be compressed: content-encoding is not supported',
    )
}

/**
 * Reads a body.
 * @throws ApiError INVALID_ARGUMENT as for `readRequestJson`, and if the body has no object `data`; the errors of
 * `meter.keep`
 */
export async function readRequestData(
  request: IncomingMessage,
  bytesMax: number,
  meter: BodyMeter,
): Promise<RequestData> {
  const { body, text } = await readRequestJson(request, bytesMax, meter)
  if (!isJsonObject(body))
    throw invalid('request/invalid-json', 'the body must be a JSON object with the member "data"')
  const data = Object.hasOwn(body, 'data') ? body.data : undefined
  if (data === undefined) throw invalidAt({ path: '/data', message: 'is required' })
  if (!isJsonObject(data)) throw invalidAt({ path: '/data', message: 'must be object' })
  return { body, data, text }
}

/**
 * Reads a body of JSON. Returns its value and its text.
 * @throws ApiError INVALID_ARGUMENT if the body is too large (413), not UTF-8, not JSON, or nested too deeply;
 * the errors of `meter.keep`
 */
export async function readRequestJson(
  request: IncomingMessage,
  bytesMax: number,
  meter: BodyMeter,
): Promise<{ body: unknown; text: string }> {
  const text = await readText(request, bytesMax, meter)
  meter.complete()
  const isLarge = text.length > lengthPerTick
  if (isLarge) await meter.turn()
  const measured = new JsonMeter(text, depthMax)
  while (!measured.read(lengthPerTick) && measured.measure.values <= bodyValuesMax) await meter.turn()
  const { isTooDeep, values, valueBytes } = measured.measure
  if (isTooDeep)
    throw invalid('request/too-deep', `the body is nested more than ${depthMax} levels deep: flatten it`)
  if (values > bodyValuesMax)
    throw invalid(
      'request/too-many-values',
      `the body has more than ${bodyValuesMax} arrays, objects and commas: split the call`,
    )
  meter.keep(valueBytes)
  if (isLarge) await meter.turn()
  return { body: isLarge ? await parseLarge(text, meter) : parse(text), text }
}

/**
 * Reads a body of bytes.
 * @throws ApiError INVALID_ARGUMENT if the body is too large (413); the errors of `meter.keep`
 */
export async function readBytes(
  request: IncomingMessage,
  bytesMax: number,
  meter: BodyMeter,
): Promise<Uint8Array> {
  if (request.readableEnded) throw new BodyTakenError()
  const kept = new GrowingBytes(bytesMax)
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      meter.count(chunk.length + pieceCostBytes)
      if (kept.length + chunk.length > bytesMax) throw tooLarge(bytesMax)
      const { capacity } = kept
      kept.add(chunk)
      if (kept.capacity > capacity) meter.keep(kept.capacity - capacity)
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ClientDisconnectedError('the connection ended before the body', { cause: error })
  }
  meter.complete()
  return kept.take()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notJson(text)
  }
}

/** Parses a body, each piece of it in a turn. */
async function parseLarge(text: string, meter: BodyMeter): Promise<unknown> {
  const pieces = parseInPieces(text)
  for (;;) {
    const { done, value } = nextPiece(pieces, text)
    await meter.turn()
    if (done === true) return value
  }
}

function nextPiece(pieces: ReturnType<typeof parseInPieces>, text: string): IteratorResult<void, unknown> {
  try {
    return pieces.next()
  } catch {
    throw notJson(text)
  }
}

/**
 * Returns the error for a body that is not JSON. The error contains the position of the problem, but not the
 * text, which may contain secrets.
 */
function notJson(text: string): ApiError {
  const { problem, line, column } = findJsonProblem(text)
  const place = { line, column }
  return invalid('request/invalid-json', `the body is not JSON at ${line}:${column}: ${problem}`, place)
}

const notUtf8 = (): ApiError => invalid('request/invalid-json', 'the body is not UTF-8; encode it as UTF-8')

const tooLarge = (bytesMax: number): ApiError =>
  new ApiError(
    'request/body-too-large',
    `the body is larger than ${bytesMax} bytes: split the call, or raise WEFT_MAX_BODY_BYTES`,
    {
      details: limitDetails('maxBodyBytes', bytesMax),
    },
  )

function attempt(work: () => void, onError: (error: unknown) => void): void {
  try {
    work()
  } catch (error) {
    onError(error)
  }
}

/**
 * Reads the text of a body of at most `bytesMax`, and decodes its pieces when they have arrived. Discards
 * further bytes, up to a separate limit.
 */
function readText(request: IncomingMessage, bytesMax: number, meter: BodyMeter): Promise<string> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new ClientDisconnectedError('the connection ended before the body'))
    // Without this check, the call would wait for an end that has passed.
    if (request.readableEnded) return reject(new BodyTakenError())
    if (request.destroyed) return gone()
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const pieces: string[] = []
    let bytes = 0
    let uncounted = 0
    const count = () => {
      meter.count(uncounted)
      uncounted = 0
    }
    let fits = Number(request.headers['content-length'] ?? 0) <= bytesMax
    const refuse = (problem: unknown) => {
      fits = false
      pieces.length = 0
      reject(problem)
    }
    const waiting = new GrowingBytes(bytesMax)
    const decode = (stream: boolean) => {
      meter.keep(bytesPerCharacter * waiting.length + pieceBytes)
      try {
        pieces.push(decoder.decode(waiting.take(), { stream }))
      } catch {
        throw notUtf8()
      }
    }
    const keep = (chunk: Buffer) => {
      const { capacity } = waiting
      waiting.add(chunk)
      if (waiting.capacity > capacity) meter.keep(waiting.capacity - capacity)
      if (waiting.length >= decodedBytes) decode(true)
    }
    if (!fits) refuse(tooLarge(bytesMax))
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      uncounted += chunk.length + pieceCostBytes
      if (uncounted >= decodedBytes) count()
      if (bytes > bytesMax + discardedBytesMax) request.destroy()
      else if (fits && bytes > bytesMax) refuse(tooLarge(bytesMax))
      else if (fits) attempt(() => keep(chunk), refuse)
    })
    request.on('end', () => {
      count()
      // At the end, an incomplete character is an error.
      if (fits) attempt(() => decode(false), refuse)
      resolve(pieces.join(''))
      pieces.length = 0
    })
    request.on('close', () => {
      count()
      if (!request.readableEnded) gone()
    })
    request.on('error', gone)
  })
}
