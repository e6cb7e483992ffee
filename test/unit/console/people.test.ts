import { expect, it } from 'vitest'
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import {
  AwarenessTracker,
  type AwarenessUser,
  caretPositions,
} from '../../../src/console/documents/live/awareness-users.ts'

function client(clientId: number) {
  const doc = new Y.Doc()
  doc.clientID = clientId
  const awareness = new Awareness(doc)
  const said = () => encodeAwarenessUpdate(awareness, [clientId])
  return { awareness, said }
}

it('[CON-22] lists each client with its latest user data and the time at which it first appeared', () => {
  const people = new AwarenessTracker()
  const { awareness, said } = client(7)
  awareness.setLocalState({ user: { id: 'ann', name: 'Ann', color: '#f00', kind: 'agent' } })
  people.receive(said(), 1_000)
  expect(people.all()).toMatchObject([{ name: 'Ann', isAgent: true }])
  const early = said()
  awareness.setLocalState({ user: { name: 'Anna' } })
  people.receive(said(), 2_000)
  people.receive(early, 3_000)
  expect(people.all()).toEqual([
    { clientId: 7, since: 1_000, userId: '', name: 'Anna', isAgent: false, color: null, cursor: null },
  ])
  awareness.setLocalState(null)
  people.receive(said(), 4_000)
  expect(people.all()).toEqual([])
  awareness.destroy()
})

it('[CON-22] shows a client with any state as a participant', () => {
  const people = new AwarenessTracker()
  const states = [
    {},
    { user: 1 },
    { user: { name: 5, id: 'x' }, cursor: { anchor: 1 } },
    { name: 'Lexa', color: 'red' },
  ]
  for (const [index, state] of states.entries()) {
    const { awareness, said } = client(index + 1)
    awareness.setLocalState(state)
    people.receive(said(), 0)
    awareness.destroy()
  }
  expect(people.all().map(({ name, color }) => [name, color])).toEqual([
    ['Somebody', null],
    ['Somebody', null],
    ['x', null],
    ['Lexa', 'red'],
  ])
})

/** A document of a client that has only received it. */
function received(edit: (doc: Y.Doc) => void): Y.Doc {
  const [made, doc] = [new Y.Doc(), new Y.Doc()]
  edit(made)
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(made))
  return doc
}

const person = (clientId: number, head: unknown): AwarenessUser => ({
  clientId,
  since: 0,
  isAgent: false,
  userId: '',
  name: `p${clientId}`,
  color: null,
  cursor: { anchor: head, head },
})

it('[CON-22] finds cursors in roots and nested values, and ignores invalid positions', () => {
  let [inText, inElement]: unknown[] = []
  const doc = received((made) => {
    const text = made.getText('content')
    text.insert(0, 'Hello')
    inText = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, 2))
    const nested = new Y.XmlText('deep')
    const element = new Y.XmlElement('p')
    element.insert(0, [nested])
    made.getXmlFragment('default').insert(0, [element])
    inElement = JSON.stringify(Y.createRelativePositionFromTypeIndex(nested, 4))
  })
  const strange = [null, 'x', {}, { tname: 'unknown' }, { item: { client: 1, clock: 99 } }, 5]
  const people = [person(1, inText), person(2, inElement), ...strange.map((head, at) => person(9 + at, head))]
  const carets = caretPositions(doc, people)
  expect([...carets.keys()][0]).toBe(doc.share.get('content'))
  expect([...carets.values()].flat().map(({ index, name }) => [index, name])).toEqual([
    [2, 'p1'],
    [4, 'p2'],
  ])
  expect(doc.share.has('unknown')).toBe(false)
})
