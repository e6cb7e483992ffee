import type { Clock } from '../../clock.ts'
import { authTokensFence, domainsFence } from '../../directory/fence-names.ts'
import type { WriteRight } from '../../directory/write-right.ts'
import type { Fence, FenceStore } from '../../engine/engine.ts'
import type { Tenant } from '../../model/address.ts'
import type { KeyCaller } from './key-credentials.ts'

export interface KeyRightOptions {
  readonly tenant: Tenant
  /** The permission to change the document. */
  readonly document: WriteRight
  readonly fences: FenceStore
  readonly clock: Clock
  /** Checks the credentials of the request again. @throws ApiError if they are not valid any more */
  readonly authenticate: () => Promise<KeyCaller>
}

/** The permission of a backend to change a document during a long request. It ends with the credentials of the request. */
export class KeyRight implements WriteRight {
  readonly #options: KeyRightOptions
  #own: Fence | null = null
  #until = 0

  private constructor(options: KeyRightOptions) {
    this.#options = options
  }

  /** Reads the fences and checks the credentials. @throws the errors of `recheck` */
  static async read(options: KeyRightOptions): Promise<KeyRight> {
    const right = new KeyRight(options)
    await right.#readOwn()
    return right
  }

  get fence(): Fence | null {
    const { document, clock } = this.#options
    const { fence } = document
    return fence === null || this.#own === null || clock.now() >= this.#until
      ? null
      : [...fence, ...this.#own]
  }

  /** The errors of the credentials come before those of the document. */
  async recheck(): Promise<void> {
    await this.#readOwn()
    await this.#options.document.recheck()
  }

  async #readOwn(): Promise<void> {
    const { tenant, fences, authenticate } = this.#options
    this.#own = null
    const fence = await fences.read([authTokensFence(tenant), domainsFence(tenant)])
    const { validUntil } = await authenticate()
    this.#until = validUntil
    this.#own = fence
  }
}
