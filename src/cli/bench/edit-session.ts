import * as Y from 'yjs'
import { type EditStep, randomFrom, readTrace, readTraceFile, type TraceFile } from './trace.ts'

/** An edit of a session with one or more authors. */
export interface AuthoredEdit {
  readonly author: number
  readonly update: Uint8Array
  /** Number of characters that the author has typed up to this edit. Characters that were deleted later are included. */
  readonly clock: number
  /** For each author, the number of characters that this author had received before the edit. */
  readonly needs: readonly number[]
}

export interface EditSession {
  /** Client ids of the authors. */
  readonly authors: readonly number[]
  readonly edits: readonly AuthoredEdit[]
  readonly endContent: string
}

/** Returns the session of one author. */
export function sequentialSession(keystrokes: number, file?: string): EditSession {
  const { patches, endContent } = readTrace(keystrokes, file)
  return { ...editsOf(patches), endContent }
}

function editsOf(patches: readonly EditStep[]): Omit<EditSession, 'endContent'> {
  const writer = new SessionWriter(1)
  for (const patch of patches) writer.edit(0, [patch])
  return { authors: writer.ids, edits: writer.edits }
}

/** Returns one update for each keystroke of an editor. Each keystroke is one transaction. */
export const updatesOf = (patches: readonly EditStep[]): readonly Uint8Array[] =>
  editsOf(patches).edits.map(({ update }) => update)

/**
 * Returns a session of authors who type at the same time: a recorded one, or a generated one without a file.
 * @param file path of a concurrent trace
 */
export function concurrentSession(keystrokes: number, file?: string): EditSession {
  const trace = readTraceFile(file)
  return trace?.kind === 'concurrent' ? recordedSession(trace) : generatedSession(keystrokes)
}

/** Client id of the first author. Most random ids of Yjs have as many bytes. */
const firstId = 2_000_000_000

/** The documents of the authors of a session. */
class SessionWriter {
  readonly ids: readonly number[]
  readonly edits: AuthoredEdit[] = []
  readonly #docs: readonly Y.Doc[]

  constructor(count: number) {
    this.ids = Array.from({ length: count }, (_, author) => firstId + author)
    this.#docs = this.ids.map((clientID) => Object.assign(new Y.Doc(), { clientID }))
  }

  lengthOf(author: number): number {
    return this.#docOf(author).getText('content').length
  }

  receive(author: number, edits: readonly AuthoredEdit[]): void {
    for (const { update } of edits) Y.applyUpdate(this.#docOf(author), update)
  }

  edit(author: number, patches: readonly EditStep[]): void {
    const doc = this.#docOf(author)
    const needs = this.ids.map((id) => Y.getState(doc.store, id))
    const text = doc.getText('content')
    doc.once('update', (update: Uint8Array) => {
      this.edits.push({ author, update, clock: Y.getState(doc.store, doc.clientID), needs })
    })
    doc.transact(() => {
      for (const [position, deleted, inserted] of patches) {
        if (deleted > 0) text.delete(position, deleted)
        if (inserted !== '') text.insert(position, inserted)
      }
    })
  }

  #docOf(author: number): Y.Doc {
    return this.#docs[author] as Y.Doc
  }
}

/** Converts a recorded session. An author has received the parents of an edit and their own parents. */
function recordedSession({ numAgents, txns, endContent }: TraceFile): EditSession {
  const writer = new SessionWriter(numAgents)
  const received = Array.from({ length: numAgents }, () => new Set<number>())
  for (const [index, { agent, parents, patches }] of txns.entries()) {
    const known = received[agent] as Set<number>
    const missing = new Set(parents.filter((parent) => !known.has(parent)))
    for (const parent of missing)
      for (const earlier of txns[parent]?.parents ?? []) if (!known.has(earlier)) missing.add(earlier)
    const all = [...missing].toSorted((a, b) => a - b)
    writer.receive(
      agent,
      all.map((each) => writer.edits[each] as AuthoredEdit),
    )
    for (const each of [...all, index]) known.add(each)
    if (patches.length > 0) writer.edit(agent, patches)
  }
  return { authors: writer.ids, edits: writer.edits, endContent }
}

const generatedAuthors = 3

/**
 * Generates a session of three authors, who type stretches at different places and receive the edits of the
 * others late. The session is the same in each run.
 */
function generatedSession(keystrokes: number): EditSession {
  const random = randomFrom(7)
  const writer = new SessionWriter(generatedAuthors)
  const positions = writer.ids.map(() => 0)
  const received = writer.ids.map(() => 0)
  while (writer.edits.length < keystrokes) {
    const author = random(generatedAuthors)
    if (random(30) === 0) {
      const missed = writer.edits.slice(received[author]).filter((edit) => edit.author !== author)
      writer.receive(author, missed)
      received[author] = writer.edits.length
    }
    const length = writer.lengthOf(author)
    const position = random(100) === 0 ? random(length + 1) : Math.min(positions[author] as number, length)
    const deletes = position > 0 && random(10) === 0
    writer.edit(author, [deletes ? [position - 1, 1, ''] : [position, 0, 'etaoin shrdlu'.charAt(random(13))]])
    positions[author] = position + (deletes ? -1 : 1)
  }
  const doc = new Y.Doc()
  for (const { update } of writer.edits) Y.applyUpdate(doc, update)
  return { authors: writer.ids, edits: writer.edits, endContent: doc.getText('content').toJSON() }
}
