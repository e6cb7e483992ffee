import type { Fence, FenceStore } from '../engine/engine.ts'
import { documentFences } from './fence-names.ts'
import type { OrganizationScope } from './organizations/organization-keys.ts'

/** The permission under which an update is written, with the fence that protects it. */
export interface WriteRight {
  /** The fence, which was read before the permission was checked. Null if the permission has ended. */
  readonly fence: Fence | null
  /** Checks the permission again. @throws ApiError if the permission has ended; StoreUnavailableError */
  recheck(): Promise<void>
}

export interface DocumentRightOptions {
  readonly fences: FenceStore
  readonly scope: OrganizationScope
  readonly documentId: string
  /** Checks whether the document may be changed now. @throws ApiError if it must not be changed */
  readonly check: () => Promise<void>
}

/**
 * The permission of a backend to change a document. It lasts as long as the document exists and is enabled.
 */
export class DocumentRight implements WriteRight {
  readonly #options: DocumentRightOptions
  #fence: Fence | null = null

  private constructor(options: DocumentRightOptions) {
    this.#options = options
  }

  /** Reads the fence and checks the permission. @throws the errors of `recheck` */
  static async read(options: DocumentRightOptions): Promise<DocumentRight> {
    const right = new DocumentRight(options)
    await right.recheck()
    return right
  }

  get fence(): Fence | null {
    return this.#fence
  }

  async recheck(): Promise<void> {
    const { fences, scope, documentId, check } = this.#options
    this.#fence = null
    const fence = await fences.read(documentFences(scope, documentId))
    await check()
    this.#fence = fence
  }
}
