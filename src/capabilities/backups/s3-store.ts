import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import { SaxesParser } from 'saxes'
import { pauseAfter } from '../../core/base/backoff.ts'
import { errorMessage } from '../../core/base/errors.ts'
import type { S3Settings } from '../../core/config/s3-settings.ts'
import {
  checkObjectName,
  checkObjectSize,
  isObjectName,
  type ObjectStore,
  type StoredObject,
} from './object-store.ts'
import { StorageError } from './storage/storage-error.ts'

/** One page of a ListObjectsV2 response. */
interface ObjectPage {
  readonly objects: readonly StoredObject[]
  /** Token of the next page; null on the last page. */
  readonly next: string | null
}

/** Maximum depth of the elements. The deepest known one is `ListBucketResult/Contents/Owner/ID`. */
const depthMax = 16
/** Maximum number of objects in a page, which the protocol has. */
const pageObjectsMax = 1_000
const tokenCharactersMax = 8_192
const errorCharactersMax = 300

/**
 * Calls `found` at the end of each element, with its path and the text after its last child.
 * @throws Error if the text is not XML, or has elements below `depthMax`
 */
function readElements(xml: string, found: (path: string, text: string) => void): void {
  const path: string[] = []
  let text = ''
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name }) => {
    path.push(name)
    if (path.length > depthMax) throw new Error('the response is nested too deeply')
    text = ''
  })
  parser.on('text', (part) => {
    text += part
  })
  parser.on('closetag', () => {
    found(path.join('/'), text)
    path.pop()
    text = ''
  })
  parser.write(xml).close()
}

/**
 * Reads a response of ListObjectsV2. Leaves out objects whose names below `prefix` are not those of a
 * repository.
 * @throws Error if it is not such a response
 */
export function readObjectPage(xml: string, prefix: string): ObjectPage {
  const objects: StoredObject[] = []
  let [key, size] = ['', -1]
  let [isTruncated, next] = [false, '']
  let [isList, count] = [false, 0]
  readElements(xml, (path, text) => {
    if (path === 'ListBucketResult/Contents/Key') key = text
    if (path === 'ListBucketResult/Contents/Size') size = /^\d+$/.test(text) ? Number(text) : -1
    if (path === 'ListBucketResult/IsTruncated') isTruncated = text.trim() === 'true'
    if (path === 'ListBucketResult/NextContinuationToken') next = text
    if (path === 'ListBucketResult') isList = true
    if (path !== 'ListBucketResult/Contents') return
    if (++count > pageObjectsMax) throw new Error(`the response has more than ${pageObjectsMax} objects`)
    const name = key.slice(prefix.length)
    if (key.startsWith(prefix) && isObjectName(name) && size >= 0) objects.push({ name: copyOf(name), size })
    ;[key, size] = ['', -1]
  })
  if (!isList || (isTruncated && next === '')) throw new Error('the response is not a list of objects')
  if (next.length > tokenCharactersMax) throw new Error('the token of the next page is too long')
  return { objects, next: isTruncated ? next : null }
}

/** Returns a string that does not keep the whole response in memory. Names have ASCII characters only. */
const copyOf = (name: string): string => Buffer.from(name, 'latin1').toString('latin1')

/** Returns the code and the message of an error response, such as `AccessDenied: Access Denied`. */
export function errorTextOf(status: number, body: string): string {
  let [code, message] = ['', '']
  try {
    readElements(body, (path, text) => {
      if (path === 'Error/Code') code = text.slice(0, errorCharactersMax)
      if (path === 'Error/Message') message = text.slice(0, errorCharactersMax)
    })
  } catch {
    // The response is not the XML of S3.
    return `HTTP ${status}`
  }
  if (code === '') return `HTTP ${status}`
  return message === '' ? code : `${code}: ${message}`
}

const attemptsMax = 5
const pauses = { firstMs: 300, maxMs: 2_400 }
/** Timeout of each half of an attempt: a fixed time, and the time that a slow connection needs for the bytes. */
const timeoutMs = { fixed: 60_000, bytesPerMs: 64 } as const
/** Maximum size of a list or an error response. A list has at most 1,000 names of at most 1,024 bytes. */
const textBytesMax = 4 * 2 ** 20

/** Maximum number of pages of a list, and of those without objects. Full pages have 5 million objects. */
const pagesMax = { all: 5_000, empty: 1_000 } as const

/** A bucket and the start of all names in it, from a URL such as `s3://bucket/prefix`. */
export interface S3Location {
  readonly bucket: string
  /** '' or a text that ends with a slash. */
  readonly prefix: string
}

/** @throws StorageError */
export function parseS3Location(url: string): S3Location {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/.exec(url)
  const [, bucket = '', path = ''] = found ?? []
  if (found === null)
    throw new StorageError('the place is not the URL of a bucket; expected s3://bucket/prefix')
  if (path === '') return { bucket, prefix: '' }
  checkObjectName(path)
  return { bucket, prefix: `${path}/` }
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  /** Key of an object, or '' for the bucket. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
}

interface S3Response {
  readonly status: number
  readonly body: Buffer
}

/**
 * Objects in a bucket of Amazon S3 or a compatible service. A request is repeated after an error of the
 * connection or the service, with growing pauses.
 */
export class S3Store implements ObjectStore {
  readonly name: string
  readonly #prefix: string
  /** URL of the bucket without a slash at its end. */
  readonly #base: string
  readonly #client: AwsClient

  constructor({ bucket, prefix }: S3Location, settings: S3Settings) {
    this.name = `s3://${bucket}/${prefix}`
    this.#prefix = prefix
    this.#base = baseUrl(bucket, settings)
    const { region, accessKeyId, secretAccessKey, sessionToken } = settings
    this.#client = new AwsClient({
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
    })
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    checkObjectName(name)
    await this.#send({ method: 'PUT', key: this.#prefix + name, body: new Uint8Array(bytes) })
  }

  async get(name: string): Promise<Buffer | null> {
    checkObjectName(name)
    const { status, body } = await this.#send({ method: 'GET', key: this.#prefix + name })
    return status === 404 ? null : body
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    let [pages, empty] = [0, 0]
    for (let start: string | null = ''; start !== null; ) {
      const next = start === '' ? {} : { 'continuation-token': start }
      const query = { 'list-type': '2', prefix: this.#prefix + prefix, ...next }
      const { body } = await this.#send({ method: 'GET', key: '', query })
      const page = this.#readPage(body)
      pages += 1
      if (page.objects.length === 0) empty += 1
      if (page.next !== null && (page.next === start || pages === pagesMax.all || empty === pagesMax.empty))
        throw this.#failed('the list of objects does not end', undefined)
      yield* page.objects
      start = page.next
    }
  }

  async delete(name: string): Promise<void> {
    checkObjectName(name)
    await this.#send({ method: 'DELETE', key: this.#prefix + name })
  }

  /** A service deletes by itself what an interrupted request has sent. */
  removeIncomplete(): Promise<number> {
    return Promise.resolve(0)
  }

  #readPage(body: Buffer) {
    try {
      return readObjectPage(body.toString(), this.#prefix)
    } catch (cause) {
      throw this.#failed(errorMessage(cause), cause)
    }
  }

  /** Sends a request until it succeeds, or is rejected, or all attempts have failed. @throws StorageError */
  async #send(request: S3Request): Promise<S3Response> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(request)
      if (!('problem' in result)) return result
      if (!result.mayRepeat || attempt === attemptsMax) throw this.#failed(result.problem, result.cause)
      await sleep(pauseAfter(pauses, attempt))
    }
  }

  async #attempt(
    request: S3Request,
  ): Promise<
    S3Response | { readonly problem: string; readonly mayRepeat: boolean; readonly cause?: unknown }
  > {
    const controller = new AbortController()
    let timer = transferTimer(controller, request.body?.length ?? 0)
    try {
      const response = await this.#fetch(request, controller.signal)
      clearTimeout(timer)
      timer = transferTimer(controller, lengthOf(response))
      const isMissing = response.status === 404 && request.key !== '' && request.method !== 'PUT'
      const bytes = await bodyOf(response, request.key === '' || !response.ok ? textBytesMax : null)
      if (response.ok) return { status: response.status, body: bytes }
      const problem = errorTextOf(response.status, bytes.toString())
      if (isMissing && !problem.startsWith('NoSuchBucket')) return { status: 404, body: bytes }
      const mayRepeat = response.status >= 500 || [408, 429].includes(response.status)
      return { problem, mayRepeat }
    } catch (cause) {
      if (cause instanceof StorageError) throw cause
      const reason = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
      return { problem: errorMessage(reason), mayRepeat: true, cause }
    } finally {
      clearTimeout(timer)
    }
  }

  async #fetch({ method, key, query, body }: S3Request, signal: AbortSignal): Promise<Response> {
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`
    const hash = await crypto.subtle.digest('SHA-256', body ?? new Uint8Array())
    const signed = await this.#client.sign(`${this.#base}/${key}${search}`, {
      method,
      headers: { 'x-amz-content-sha256': Buffer.from(hash).toString('hex') },
      ...(body !== undefined && { body }),
    })
    return fetch(signed, { redirect: 'manual', signal })
  }

  #failed(problem: string, cause: unknown): StorageError {
    return new StorageError(`${this.name} cannot be used: ${problem}`, { cause })
  }
}

/** Starts the timer that aborts a transfer. @param bytes size of the transfer */
function transferTimer(controller: AbortController, bytes: number): NodeJS.Timeout {
  const ms = timeoutMs.fixed + bytes / timeoutMs.bytesPerMs
  const reason = new Error(`no complete answer within ${Math.round(ms / 1000)} s`)
  return setTimeout(() => controller.abort(reason), ms)
}

const lengthOf = (response: Response): number => Number(response.headers.get('content-length') ?? 0)

/** Uses a path for the bucket, except with Amazon S3, which has a host for each bucket. */
function baseUrl(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== null) return `${endpoint}/${bucket}`
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  // The certificate is not valid for a bucket whose name has a dot.
  return bucket.includes('.')
    ? `https://s3.${region}.${domain}/${bucket}`
    : `https://${bucket}.s3.${region}.${domain}`
}

/** @param bytesMax maximum size of the body; null: that of an object */
async function bodyOf(response: Response, bytesMax: number | null): Promise<Buffer> {
  const parts: Uint8Array[] = []
  const check = (size: number): void => {
    if (bytesMax === null) checkObjectSize('of the bucket', size)
    else if (size > bytesMax) throw new StorageError(`the response has more than ${bytesMax} bytes`)
  }
  check(lengthOf(response))
  let size = 0
  for await (const part of response.body ?? []) {
    const bytes: Uint8Array = part
    parts.push(bytes)
    size += bytes.length
    check(size)
  }
  return Buffer.concat(parts)
}
