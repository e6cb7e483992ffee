import { useSyncExternalStore } from 'react'

/** A value that components read. It is the same object until it changes, so React does not render without end. */
export class LiveValue<Value> {
  readonly #read: () => Value
  readonly #isSame: (one: Value, other: Value) => boolean
  readonly #listeners = new Set<() => void>()
  #value: Value
  #isChanged = false

  /** @param read returns the current value, which can be a new object each time */
  constructor(read: () => Value, isSame: (one: Value, other: Value) => boolean = Object.is) {
    this.#read = read
    this.#isSame = isSame
    this.#value = read()
  }

  readonly get = (): Value => this.#value

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reads the value again. */
  readonly refresh = (): void => {
    const value = this.#read()
    if (this.#isSame(value, this.#value)) return
    this.#value = value
    if (this.#isChanged) return
    this.#isChanged = true
    // Editors write while React renders them. React does not permit updates of other components at that time.
    queueMicrotask(() => {
      this.#isChanged = false
      for (const listener of this.#listeners) listener()
    })
  }
}

/** Returns the value. The component renders again when it changes. */
export const useLiveValue = <Value>({ subscribe, get }: Pick<LiveValue<Value>, 'subscribe' | 'get'>): Value =>
  useSyncExternalStore(subscribe, get, get)
