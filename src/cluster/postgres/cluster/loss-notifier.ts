/**
 * Delays of loss notifications in ms. `first`: time from the first loss to its notification. `next`: minimum
 * time between two notifications; it is longer, because each notification makes the listeners check
 * everything.
 */
const pauseMs = { first: 20, next: 1_000 }

/**
 * Notifies the listeners that messages were lost. Combines losses in quick succession into one notification.
 */
export class LossNotifier {
  readonly #listeners = new Set<{ readonly call: () => void }>()
  #notifiedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  listen(call: () => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  tell(): void {
    const waitMs = Math.max(pauseMs.first, this.#notifiedAt + pauseMs.next - performance.now())
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#notifiedAt = performance.now()
      for (const { call } of Array.from(this.#listeners)) call()
    }, waitMs).unref()
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#listeners.clear()
  }
}
