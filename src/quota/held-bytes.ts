import { exhausted } from './limits.ts'

/** What each piece costs beside its bytes. */
const pieceBytes = 128
/** They are let go within seconds: the time that a request may take. */
const retryAfterSeconds = 1

export interface HeldBytesMax {
  readonly ofWorkspace: number
  readonly inAll: number
}

/** Bytes that are in memory for somebody until a call is answered. */
export interface Hold {
  /** Counts a piece more. @throws ApiError RESOURCE_EXHAUSTED; nothing more is counted for it */
  add(bytes: number): void
  /** All of it is let go; calling it again changes nothing. */
  release(): void
}

/**
 * Bounds what bodies take in memory while they come and while they are worked on, of each workspace and in all: a rate
 * alone says nothing of many that come slowly at once. By workspace and not by API key, as connections are.
 */
export class HeldBytes {
  readonly #max: HeldBytesMax
  readonly #ofWorkspace = new Map<string, number>()
  #inAll = 0

  constructor(max: HeldBytesMax) {
    this.#max = max
  }

  /** @param workspace id, or whatever else the caller is counted by */
  enter(workspace: string): Hold {
    let held = 0
    const change = (bytes: number): void => {
      held += bytes
      this.#change(workspace, bytes)
    }
    return {
      add: (bytes) => {
        this.#check(workspace, bytes + pieceBytes)
        change(bytes + pieceBytes)
      },
      release: () => change(-held),
    }
  }

  #check(workspace: string, more: number): void {
    const { ofWorkspace, inAll } = this.#max
    if ((this.#ofWorkspace.get(workspace) ?? 0) + more > ofWorkspace)
      throw exhausted(
        'bodyBytesAtOnce',
        ofWorkspace,
        'too many large calls of this workspace at once',
        retryAfterSeconds,
      )
    if (this.#inAll + more > inAll)
      throw exhausted('bodyBytesInAll', inAll, 'too many large calls at once', retryAfterSeconds)
  }

  #change(workspace: string, bytes: number): void {
    this.#inAll += bytes
    const left = (this.#ofWorkspace.get(workspace) ?? 0) + bytes
    if (left === 0) this.#ofWorkspace.delete(workspace)
    else this.#ofWorkspace.set(workspace, left)
  }
}
