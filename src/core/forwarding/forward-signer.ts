import { createHmac, hkdfSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { timingSafeEqualBytes } from '../access/credentials/timing-safe.ts'
import type { ForwardedRequest } from '../access/forwarded-requests.ts'
import type { Clock } from '../base/clock.ts'
import { readJsonOrNull } from '../base/json.ts'
import * as s from '../base/schema.ts'

/** Header of a forwarded request: a statement as JSON in base64url, a dot, and its MAC. */
export const forwardedHeader = 'x-weft-forwarded'

/** Time in ms for which a statement is valid, before and after it was signed. The clocks of nodes may differ. */
const validMs = 30_000
/** Maximum length of the header. Ids of nodes and names of tools are short. */
const headerLengthMax = 4_096

const statementSchema = s.object(
  {
    at: s.number,
    node: s.string,
    clientAddress: s.string,
    tool: s.orNull(s.string),
  },
  // Nodes of version 0.1 do not state it.
  { websocket: s.orNull(s.number) },
)

/** The parts of a request to which a statement belongs. */
export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/**
 * Signs what a node states about a request that it forwards. The body and the credentials are not signed: the receiver
 * checks the credentials of the client itself, so a statement gives no rights.
 */
export class ForwardSigner {
  readonly #keys: readonly [Buffer, ...Buffer[]]
  readonly #clock: Clock

  /**
   * @param secret a secret of all nodes
   * @param previousSecret another secret whose signatures are valid, while the nodes replace their secret
   */
  constructor(secret: string, previousSecret: string | null, clock: Clock) {
    this.#keys = [keyOf(secret), ...(previousSecret === null ? [] : [keyOf(previousSecret)])]
    this.#clock = clock
  }

  /** Returns the value of the header. */
  sign(request: SignedRequest, stated: ForwardedRequest): string {
    const statement = { at: this.#clock.now(), ...stated }
    const text = Buffer.from(JSON.stringify(statement)).toString('base64url')
    return `${text}.${macOf(this.#keys[0], request, text).toString('base64url')}`
  }

  /** Returns the statement about a request; null if there is none, or none that a node has signed for it. */
  verify(request: SignedRequest): ForwardedRequest | null {
    const header = request.headers[forwardedHeader]
    if (typeof header !== 'string' || header.length > headerLengthMax) return null
    const [text = '', mac = ''] = header.split('.')
    const given = Buffer.from(mac, 'base64url')
    if (!this.#keys.some((key) => timingSafeEqualBytes(macOf(key, request, text), given))) return null
    const statement = readJsonOrNull(statementSchema, Buffer.from(text, 'base64url'))
    if (statement === null) return null
    const { at, websocket = null, ...stated } = statement
    return Math.abs(this.#clock.now() - at) > validMs ? null : { ...stated, websocket }
  }
}

const keyOf = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'weft forwarded requests', 32))

const macOf = (key: Buffer, { method, url, headers }: SignedRequest, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([method, url, headers['x-request-id'] ?? null, text]))
    .digest()
