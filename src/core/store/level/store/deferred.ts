/** A promise with its `resolve` and `reject`. */
export class Deferred<T> {
  readonly promise: Promise<T>
  #resolve: (value: T) => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Often no caller awaits this promise. Without this line, its rejection would count as unhandled.
    this.promise.catch(() => undefined)
  }

  found(value: T): void {
    this.#resolve(value)
  }

  missed(error: unknown): void {
    this.#reject(error)
  }
}
