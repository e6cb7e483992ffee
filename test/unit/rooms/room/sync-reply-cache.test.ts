import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { DocumentState } from '../../../../src/core/rooms/document/document-state.ts'
import { SyncReplyCache, type SyncReplyEncoder } from '../../../../src/core/rooms/room/sync-reply-cache.ts'
import { hocuspocus } from '../../../../src/core/sync/protocols/hocuspocus.ts'
import { syncTypes } from '../../../../src/core/sync/protocols/message.ts'
import { yWebsocket } from '../../../../src/core/sync/protocols/y-websocket.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'

const nothing = Uint8Array.of(0)

function stateOf(characters: number): DocumentState {
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'x'.repeat(characters))
  const state = DocumentState.fromStored(Y.encodeStateAsUpdate(doc), [])
  if (state === null) throw new Error('not kept as bytes')
  return state
}

/** The bytes that a client receives. */
const inHex = (buffers: readonly Uint8Array[]): string => Buffer.concat(buffers).toString('hex')

it('[ROOM-39] sends the bytes of a large document to all clients that have no content, without copying them', () => {
  const state = stateOf(100_000)
  const answering = new SyncReplyCache(state)
  const first = answering.framesFor(yWebsocket, nothing)
  const frame = Buffer.from(yWebsocket.update(state.encode()))
  // The type of the message follows the header of the frame, which has 10 bytes.
  frame.set([syncTypes.step2], 11)
  expect(Buffer.concat(first).equals(frame)).toBe(true)
  expect(first.at(-1)).toBe(state.encode())
  void state.doc
  expect(answering.framesFor(yWebsocket, nothing).at(-1)).toBe(first.at(-1))
  expect(answering.framesFor(hocuspocus('acme/plan/main'), nothing).at(-1)).toBe(first.at(-1))
})

it('[ROOM-39] sends a small change in a separate frame, and builds the whole frame again after a large change', () => {
  const state = stateOf(100_000)
  const answering = new SyncReplyCache(state)
  const whole = answering.framesFor(yWebsocket, nothing)
  const before = state.vector()
  state.edit((doc) => doc.getText('t').insert(0, 'more'))
  state.recount()
  const frames = answering.framesFor(yWebsocket, nothing)
  expect(frames.at(-1)).toBe(whole.at(-1))
  expect(inHex(frames)).toEqual(
    inHex([yWebsocket.update(Y.encodeStateAsUpdate(state.doc, before)), ...whole]),
  )
  state.edit((doc) => doc.getText('t').insert(0, 'y'.repeat(50_000)))
  const anew = answering.framesFor(yWebsocket, nothing)
  expect(inHex(anew)).toEqual(inHex(yWebsocket.offer(Y.encodeStateAsUpdate(state.doc))))
})

it('[ROOM-39] sends updates that still wait to be applied in a separate frame, and creates no Y.Doc for them', () => {
  const state = stateOf(100_000)
  const stored = state.encode()
  const answering = new SyncReplyCache(state)
  const other = new Y.Doc()
  const updates: Uint8Array[] = []
  other.on('update', (update: Uint8Array) => updates.push(update))
  for (const text of ['a', 'b']) other.getText('u').insert(0, text)
  const [first, second] = updates.map((bytes) => ({
    bytes,
    summary: readUpdate(bytes),
  }))
  if (first === undefined || second === undefined) throw new Error('two updates')
  state.advance(first.summary)
  state.applyLater([first])
  const frames = answering.framesFor(yWebsocket, nothing)
  expect(inHex(frames)).toEqual(inHex([yWebsocket.update(first.bytes), ...yWebsocket.offer(stored)]))
  state.advance(second.summary)
  state.applyLater([second])
  expect(answering.framesFor(yWebsocket, nothing).at(-1)).toBe(frames.at(-1))
  // The state without the waiting updates is useless once a Y.Doc exists.
  const whole = Y.encodeStateAsUpdate(state.doc)
  expect(inHex(answering.framesFor(yWebsocket, nothing))).toEqual(inHex(yWebsocket.offer(whole)))
})

it('[ROOM-39] sends the bytes of a document that was opened in slices, as long as few updates have followed', async () => {
  const state = stateOf(100_000)
  const bytes = state.encode()
  const answering = new SyncReplyCache(state)
  const typing = (): void => void state.edit((doc) => doc.getText('t').insert(1, 'y'))
  const editor = new Y.Doc()
  editor.clientID = 1
  editor.getText('t').insert(0, 'while it opens')
  const waiting = Y.encodeStateAsUpdate(editor)
  const opening = state.openIn([bytes])
  state.applyLater([{ bytes: waiting, summary: readUpdate(waiting) }])
  await opening
  /** Returns an update as its own frame. */
  const plain: SyncReplyEncoder = { offer: (whole) => [whole], update: (update) => update }
  for (let edit = 0; edit < 63; edit += 1) {
    typing()
    const frames = answering.framesFor(plain, nothing)
    expect(frames.at(-1)).toBe(bytes)
    const reader = new Y.Doc()
    for (const frame of frames) Y.applyUpdate(reader, frame)
    expect(reader.getText('t').toString()).toBe(state.doc.getText('t').toString())
  }
  typing()
  expect(inHex(answering.framesFor(yWebsocket, nothing))).toEqual(
    inHex(yWebsocket.offer(Y.encodeStateAsUpdate(state.doc))),
  )
})

it.each([
  ['inserts', (doc: Y.Doc) => doc.getText('t').insert(0, 'more')],
  ['deletes', (doc: Y.Doc) => doc.getText('t').delete(0, 2)],
])(
  '[ROOM-39] when an update that %s waits to be applied to a small document, answers with one frame',
  (_, change) => {
    const state = stateOf(10)
    const editor = new Y.Doc()
    Y.applyUpdate(editor, state.encode())
    const updates: Uint8Array[] = []
    editor.on('update', (update: Uint8Array) => updates.push(update))
    change(editor)
    const [bytes = nothing] = updates
    const summary = readUpdate(bytes)
    state.advance(summary)
    state.applyLater([{ bytes, summary }])
    const offered: Uint8Array[] = []
    const offer = (whole: Uint8Array): readonly Uint8Array[] => {
      offered.push(whole)
      return yWebsocket.offer(whole)
    }
    expect(new SyncReplyCache(state).framesFor({ ...yWebsocket, offer }, nothing)).toHaveLength(1)
    const reader = new Y.Doc()
    for (const whole of offered) Y.applyUpdate(reader, whole)
    expect(reader.getText('t').toString()).toBe(editor.getText('t').toString())
  },
)

it('[ROOM-39] sends a client that has some content only the missing part', () => {
  const state = stateOf(100_000)
  const answering = new SyncReplyCache(state)
  answering.framesFor(yWebsocket, nothing)
  expect(inHex(answering.framesFor(yWebsocket, state.vector()))).toEqual(
    inHex(yWebsocket.offer(Uint8Array.of(0, 0))),
  )
})
