import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'

export type Algorithm = 'RS256' | 'ES256'

export interface ProviderKey {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  /** The public key in the form of a file. */
  readonly pem: string
}

/** A server that publishes keys, and signs tokens with them. */
export class TestProvider {
  readonly issuer = 'https://login.example.com/'
  readonly audience = 'weft-tests'
  /** The published keys. */
  keys: ProviderKey[] = []
  /** The number of fetches of the keys. */
  fetches = 0
  /** `silent` accepts calls and never answers. */
  state: 'up' | 'broken' | 'silent' = 'up'
  readonly #server = createServer((_request, response) => {
    this.fetches += 1
    if (this.state !== 'silent') void this.#answer(response)
  })

  /** Starts the server, and resolves with the URL of the keys. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve)
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks.json`
  }

  async #answer(response: ServerResponse): Promise<void> {
    const keys = await Promise.all(this.keys.map(published))
    response.writeHead(this.state === 'up' ? 200 : 500, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys }))
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Signs the claims of a usual token with the changes of `more`; undefined removes a claim. */
  async sign(key: ProviderKey, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const usual = { iss: this.issuer, aud: this.audience, sub: 'idp|ann', iat: seconds, exp: seconds + 60 }
    return new SignJWT({ ...usual, name: 'Ann', email: 'ann@example.com', ...more })
      .setProtectedHeader({ alg: key.algorithm, kid: key.kid })
      .sign(key.privateKey)
  }
}

export async function newKey(kid: string, algorithm: Algorithm): Promise<ProviderKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { kid, algorithm, privateKey, publicKey, pem: await exportSPKI(publicKey) }
}

const published = async ({ kid, algorithm, publicKey }: ProviderKey) => ({
  ...(await exportJWK(publicKey)),
  kid,
  alg: algorithm,
  use: 'sig',
})
