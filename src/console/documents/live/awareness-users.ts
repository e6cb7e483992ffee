import { createDecoder, type Decoder, readVarString, readVarUint } from 'lib0/decoding'
import * as Y from 'yjs'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'

/** A user in the form in which the awareness state of one client describes the user. */
export interface AwarenessUser {
  readonly clientId: number
  /** Time of the first awareness message from the client, in epoch milliseconds. */
  readonly since: number
  readonly userId: string
  readonly name: string
  /** True if the user is a program. */
  readonly isAgent: boolean
  /** Color for CSS, exactly as the client has sent it. Null if the client has sent none. */
  readonly color: string | null
  /**
   * Relative positions of the cursor, exactly as the client has sent them; null if the client has no cursor.
   */
  readonly cursor: { readonly anchor: unknown; readonly head: unknown } | null
}

type State = Readonly<Record<string, unknown>>

interface Known {
  readonly clock: number
  readonly since: number
  readonly state: State
}

/** Tracks the users on a document. It reads awareness messages of y-protocols, but sends none. */
export class AwarenessTracker {
  readonly #known = new Map<number, Known>()

  /**
   * Applies an awareness message to the list of users.
   * @param message body of the message
   * @param now current time in epoch milliseconds
   */
  receive(message: Uint8Array, now: number): void {
    const decoder = createDecoder(message)
    for (let left = readVarUint(decoder); left > 0; left--) this.#take(decoder, now)
  }

  #take(decoder: Decoder, now: number): void {
    const clientId = readVarUint(decoder)
    const clock = readVarUint(decoder)
    const state: unknown = JSON.parse(readVarString(decoder))
    const before = this.#known.get(clientId)
    if (before !== undefined && clock < before.clock) return
    if (!isState(state)) this.#known.delete(clientId)
    else this.#known.set(clientId, { clock, since: before?.since ?? now, state })
  }

  /**
   * Removes all users. Must be called after a disconnect, because the states of the users are then unknown.
   */
  clear(): void {
    this.#known.clear()
  }

  /** Returns the users in the order of their first awareness messages. */
  all(): readonly AwarenessUser[] {
    return [...this.#known]
      .map(([clientId, { since, state }]) => ({ clientId, since, ...shown(state) }))
      .toSorted((a, b) => a.since - b.since || a.clientId - b.clientId)
  }
}

function shown(state: State): Omit<AwarenessUser, 'clientId' | 'since'> {
  const user = partOf(state.user)
  const id = text(user.id)
  return {
    userId: id ?? '',
    name: text(user.name) ?? text(state.name) ?? id ?? 'Somebody',
    isAgent: user.kind === 'agent',
    color: text(user.color) ?? text(state.color),
    cursor: cursorOf(state),
  }
}

/**
 * Returns the cursor in an awareness state. The function supports the fields that y-codemirror, y-quill,
 * Tiptap, y-prosemirror, Slate and Lexical use.
 */
function cursorOf(state: State): AwarenessUser['cursor'] {
  for (const part of [state.cursor, state.selection]) {
    const { anchor, head, focus } = partOf(part)
    if (anchor != null && (head ?? focus) != null) return { anchor, head: head ?? focus }
  }
  const { anchorPos, focusPos } = state
  return anchorPos == null || focusPos == null ? null : { anchor: anchorPos, head: focusPos }
}

const isState = (value: unknown): value is State => typeof value === 'object' && value !== null

const partOf = (value: unknown): State => (isState(value) ? value : {})

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The cursor of a user. It is before the unit at `index`. */
export interface Caret {
  readonly index: number
  readonly clientId: number
  readonly name: string
  readonly color: string | null
}

/** Returns the cursors of users in a document, by the text that contains them. */
export function caretPositions(
  doc: Y.Doc,
  people: readonly AwarenessUser[],
): ReadonlyMap<SharedRoot, readonly Caret[]> {
  const carets = new Map<SharedRoot, Caret[]>()
  for (const { clientId, name, color, cursor } of people) {
    const place = cursor && resolved(doc, cursor.head)
    if (!place) continue
    const { type, index } = place
    carets.set(type, [...(carets.get(type) ?? []), { index, clientId, name, color }])
  }
  return carets
}

/**
 * Returns the position that a value stands for in this document. Returns null if the value is not a position;
 * clients can send any value.
 */
function resolved(doc: Y.Doc, encoded: unknown): Y.AbsolutePosition | null {
  try {
    const json: unknown = typeof encoded === 'string' ? JSON.parse(encoded) : encoded
    const position = Y.createRelativePositionFromJSON(json)
    if (position.tname != null && !doc.share.has(position.tname)) return null
    return Y.createAbsolutePositionFromRelativePosition(position, doc)
  } catch {
    return null
  }
}
