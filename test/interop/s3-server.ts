import { spawn } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/servers/process.ts'

const program = join(import.meta.dirname, 'node_modules/s3rver/bin/s3rver.js')

/** The key of s3rver. */
export const accessKeyId = 'S3RVER'
export const secretAccessKey = 'S3RVER'

/** A fault that the relay causes instead of forwarding a request. `cut` sends half of the response. */
export type S3Fault = 'unavailable' | 'reset' | 'cut'

/**
 * An S3 server with the bucket `weft`, behind a relay that checks the signature of each request (AWS Signature
 * Version 4, in headers) and of its body, which s3rver does not.
 */
export interface S3Server {
  readonly endpoint: string
  /** Faults of the next requests. */
  readonly faults: S3Fault[]
  /** Methods and paths of the requests. */
  readonly requests: string[]
  stop(): Promise<void>
}

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'weft-s3-'))
  const port = await freePort()
  const options = ['--directory', directory, '--port', String(port), '--address', '127.0.0.1', '--silent']
  // Its tokens of further pages use a cipher that OpenSSL 3 has in this provider only.
  const args = ['--openssl-legacy-provider', program, ...options, '--configure-bucket', 'weft']
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const [faults, requests] = [[] as S3Fault[], [] as string[]]
  const relay = createServer((incoming, response) => {
    requests.push(`${incoming.method} ${incoming.url}`)
    const fault = faults.shift()
    if (fault === 'reset') incoming.socket.destroy()
    else if (fault === 'unavailable') response.writeHead(503).end()
    else forward(incoming, response, port, fault === 'cut')
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    faults,
    requests,
    stop: async () => {
      relay.closeAllConnections()
      relay.close()
      server.kill('SIGKILL')
      await once(server, 'close')
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

function forward(incoming: IncomingMessage, response: ServerResponse, port: number, isCut: boolean): void {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const body = Buffer.concat(chunks)
    if (signatureOf(incoming, body) !== givenSignature(incoming)) {
      response.writeHead(403)
      response.end(
        '<Error><Code>SignatureDoesNotMatch</Code><Message>the signature is wrong</Message></Error>',
      )
      return
    }
    const { method = '', url = '', headers } = incoming
    const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      if (!isCut) {
        answer.pipe(response)
        return
      }
      answer.once('data', (chunk: Buffer) => {
        response.write(chunk.subarray(0, chunk.length / 2), () => incoming.socket.destroy())
        answer.destroy()
      })
    })
    outgoing.on('error', () => response.destroy())
    outgoing.end(body)
  })
}

const givenSignature = ({ headers }: IncomingMessage): string =>
  /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '')?.[1] ?? 'none'

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Computes the signature that the holder of the secret key would send. */
function signatureOf({ method, url = '', headers }: IncomingMessage, body: Buffer): string {
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? []
  const bodyHash = headers['x-amz-content-sha256']
  if (bodyHash !== sha256(body)) return 'the body has another hash'
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path,
    query.split('&').toSorted().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const hmac = (key: Buffer | string, part: string) => createHmac('sha256', key).update(part).digest()
  return hmac(scope.split('/').reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`), text).toString('hex')
}
