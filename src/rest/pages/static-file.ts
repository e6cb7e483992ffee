import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { builtFile } from '../../core/base/package-file.ts'
import type { PageBody } from '../http/page-route.ts'

const compress = promisify(gzip)

interface Kept {
  readonly plain: Buffer
  readonly gzipped: Buffer
  /**
   * Hash of the content. The plain and the compressed form have different tags, both derived from the hash.
   */
  readonly hash: string
}

/**
 * Policy for pages whose content comes only from files of this server, without inline scripts. `'self'`
 * includes the websockets of this server.
 */
const ownFilesPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
}

/** Returns the content type of a built file; undefined if the file is not served, such as a source map. */
export const servedType = (name: string): string | undefined => types[name.slice(name.lastIndexOf('.') + 1)]

/**
 * A built file, which is the same for all clients. The file is read and compressed on the first request,
 * then cached.
 */
export class StaticFile {
  readonly #name: string
  #kept: Promise<Kept> | null = null

  /** @param name path in the folder of the build */
  constructor(name: string) {
    this.#name = name
  }

  async content({ headers }: IncomingMessage): Promise<PageBody> {
    // After a failed read, the next request tries again.
    this.#kept ??= keep(builtFile(this.#name)).catch((error: unknown) => {
      this.#kept = null
      throw error
    })
    const { plain, gzipped, hash } = await this.#kept
    const isGzipped = acceptsGzip(headers['accept-encoding'])
    const etag = `"${hash}${isGzipped ? '-gzip' : ''}"`
    // A name with a hash changes with the content of the file.
    const isImmutable = /-[A-Z0-9]{8}\.js$/.test(this.#name)
    const sent = {
      'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      etag,
      // Set on both kinds of response, because a browser uses the header of the later response.
      'content-security-policy': ownFilesPolicy,
      // Pages of all origins may load it as a module.
      ...(this.#name.startsWith('client/') && { 'access-control-allow-origin': '*' }),
    }
    if (namesTag(headers['if-none-match'], etag)) return { kind: 'empty', status: 304, headers: sent }
    return {
      kind: 'text',
      type: servedType(this.#name) ?? '',
      text: isGzipped ? gzipped : plain,
      headers: isGzipped ? { ...sent, 'content-encoding': 'gzip' } : sent,
    }
  }
}

async function keep(place: URL): Promise<Kept> {
  const plain = await readFile(place)
  const gzipped = await compress(plain, { level: constants.Z_BEST_COMPRESSION })
  return { plain, gzipped, hash: createHash('sha256').update(plain).digest('base64url').slice(0, 22) }
}

/**
 * Returns whether a client accepts gzip (RFC 9110 12.5.3): the header lists gzip or `*`, with a weight other
 * than 0.
 */
export function acceptsGzip(accepted: string | string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map(parseCoding)
  const named = (name: string) => codings.find((coding) => coding?.name === name)
  return ((named('gzip') ?? named('*'))?.weight ?? 0) > 0
}

/**
 * Parses `gzip` or `gzip;q=0.5`, in linear time. Returns null if the text has parameters other than a weight.
 */
function parseCoding(coding: string): { readonly name: string; readonly weight: number } | null {
  const [name = '', parameter = 'q=1', ...more] = coding.split(';').map((part) => part.trim())
  if (more.length > 0 || !/^q=[\d.]+$/.test(parameter)) return null
  return { name, weight: Number(parameter.slice(2)) }
}

/**
 * Returns whether a condition lists a tag (RFC 9110 13.1.2). The comparison is weak, because a proxy that
 * changes the encoding makes a tag weak.
 */
const namesTag = (condition: string | undefined, etag: string): boolean =>
  condition
    ?.split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === etag || tag === '*') ?? false
