import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { Answering } from '../../../src/rooms/answering.ts'
import { RoomState } from '../../../src/rooms/state.ts'
import { yWebsocket } from '../../../src/sync/protocols/y-websocket.ts'

const nothing = Uint8Array.of(0)

function stateOf(characters: number): RoomState {
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'x'.repeat(characters))
  const state = RoomState.fromStored(Y.encodeStateAsUpdate(doc), [])
  if (state === null) throw new Error('not kept as bytes')
  return state
}

it('[ROOM-39] whoever has nothing gets the same frame of a large document, and another one after a change', () => {
  const state = stateOf(100_000)
  const answering = new Answering(state)
  const first = answering.frameFor(yWebsocket, nothing)
  expect(first).toEqual(yWebsocket.offer(state.encode()))
  expect(answering.frameFor(yWebsocket, nothing)).toBe(first)
  expect(answering.frameFor({ offer: (bytes) => yWebsocket.update(bytes) }, nothing)).toEqual(
    yWebsocket.update(state.encode()),
  )
  const frame = answering.frameFor(yWebsocket, nothing)
  state.doc.getText('t').insert(0, 'more')
  const changed = answering.frameFor(yWebsocket, nothing)
  expect(changed).not.toEqual(frame)
  expect(changed).toEqual(yWebsocket.offer(Y.encodeStateAsUpdate(state.doc)))
  state.drop()
  expect(answering.frameFor(yWebsocket, nothing)).toEqual(changed)
})

it('[ROOM-39] who has something gets what they lack', () => {
  const state = stateOf(100_000)
  const answering = new Answering(state)
  answering.frameFor(yWebsocket, nothing)
  expect(answering.frameFor(yWebsocket, state.vector())).toEqual(yWebsocket.offer(Uint8Array.of(0, 0)))
})
