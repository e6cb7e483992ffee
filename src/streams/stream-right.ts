import type { WriteRight } from '../directory/write-right.ts'
import type { Fence, FenceStore, Key } from '../engine/engine.ts'

export interface StreamRightOptions {
  /** The permission of the writer to change the document. */
  readonly writer: WriteRight
  readonly fences: FenceStore
  /** Fence that is raised when another connection begins to write the stream. */
  readonly name: Key
  /** Checks whether this connection still writes the stream. @throws ApiError if it does not */
  readonly check: () => Promise<void>
}

/** The permission of one connection to write a stream. It ends when another connection begins to write it. */
export class StreamRight implements WriteRight {
  readonly #options: StreamRightOptions
  #own: Fence | null = null

  private constructor(options: StreamRightOptions) {
    this.#options = options
  }

  /** Reads the fence and checks the permission. @throws the errors of `recheck` */
  static async read(options: StreamRightOptions): Promise<StreamRight> {
    const right = new StreamRight(options)
    await right.#readOwn()
    return right
  }

  get fence(): Fence | null {
    const { fence } = this.#options.writer
    return fence === null || this.#own === null ? null : [...fence, ...this.#own]
  }

  async recheck(): Promise<void> {
    await this.#readOwn()
    await this.#options.writer.recheck()
  }

  async #readOwn(): Promise<void> {
    const { fences, name, check } = this.#options
    this.#own = null
    const fence = await fences.read([name])
    await check()
    this.#own = fence
  }
}
