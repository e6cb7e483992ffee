import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'

export type Algorithm = 'RS256' | 'ES256'

export interface ProviderKey {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  /** Public key in PEM format. */
  readonly pem: string
}

/** An identity provider for tests. It publishes keys and signs tokens with them. */
export class TestProvider {
  readonly issuer = 'https://login.example.com/'
  readonly audience = 'weft-tests'
  /** Keys that the provider publishes. */
  keys: ProviderKey[] = []
  /** Number of requests for the keys so far. */
  fetches = 0
  /** Determines the responses. With `silent`, the provider accepts requests, but never answers. */
  state: 'up' | 'broken' | 'silent' = 'up'
  readonly #server = createServer((_request, response) => {
    this.fetches += 1
    if (this.state !== 'silent') void this.#answer(response)
  })

  /** Starts the provider. Resolves with the URL of its keys. */
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

  /**
   * Signs a token with the usual claims and the changes in `more`. If a value is undefined, the claim is
   * removed.
   */
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
