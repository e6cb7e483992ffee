import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { readChangeSets } from '../../../../src/core/content/history/change-sets.ts'
import { DocumentHistory } from '../../../../src/core/content/history/document-history.ts'
import { type UndoResult, undoChanges } from '../../../../src/core/content/history/undo-changes.ts'
import type { UndoSelection } from '../../../../src/core/content/history/undo-selection.ts'
import type { ChangeOrigin } from '../../../../src/core/model/change-origin.ts'
import { editRandomly, Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { storedContent } from '../../../support/stores/stored-content.ts'
import { cpuMs } from '../../../support/time/clock.ts'
import { times } from '../../../support/time/full-run.ts'
import { unitsOf } from '../support.ts'
import { Recording } from './support.ts'

const rounds = times(20, 300)
const users = ['ann', 'ben', 'eve']
const text = (doc: Y.Doc): Y.Text => doc.getText('text')

/** Undoes changes between two versions in the newest version, and records the undo. */
function undo(
  recording: Recording,
  [from, to]: readonly [number, number],
  selection: UndoSelection = {},
): UndoResult {
  const history = recording.history(from, to, recording.version)
  const result = undoChanges(history, recording.attribution(), selection, 'report')
  if (result.update !== null)
    recording.append({ by: 'undoer', at: recording.now++, source: 'undo', meta: null, bytes: result.update })
  return result
}

const contentAt = (recording: Recording, version?: number): unknown => storedContent(recording.at(version))

/** A document that several users have edited, often without the changes of the others. */
function record(random: Random, edit: (doc: Y.Doc, random: Random, by: string) => void): [Recording, number] {
  const recording = new Recording()
  let from = 0
  const steps = 12 + random.below(40)
  for (let step = 0; step < steps; step++) {
    const by = random.pick(users)
    if (step < steps >> 1 || random.once(3)) recording.sync(by)
    recording.edit(by, (doc) => edit(doc, random, by))
    if (step === steps >> 1) from = recording.version
  }
  return [recording, from]
}

/** The character that each user types. It is not a part of a word. */
const characters: Readonly<Record<string, string>> = { ann: '*', ben: '=', eve: '~' }

/** Types the character of the user, deletes, and sets formats. */
function editText(doc: Y.Doc, random: Random, by: string): void {
  const { length } = text(doc)
  const at = random.below(length + 1)
  if (random.below(5) < 3) text(doc).insert(at, (characters[by] as string).repeat(1 + random.below(4)))
  else if (random.once(2)) text(doc).delete(at, Math.min(length - at, 1 + random.below(5)))
  else
    text(doc).format(at, Math.min(length - at, 1 + random.below(6)), {
      [random.pick(['bold', 'color'])]: random.pick([true, 'red', null]),
    })
}

it(`[ATT-40] gives the content of the earlier version if all changes are undone (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const [recording, from] = record(random, round % 2 === 0 ? editRandomly : editText)
    const to = recording.version
    // Yjs itself overwrites a surrogate pair that a user cuts.
    if (cutsPair(recording.history(0).doc)) continue
    const { notUndone } = undo(recording, [from, to])
    const message = `seed ${seed + round}`
    expect(notUndone, message).toEqual([])
    expect(contentAt(recording), message).toEqual(contentAt(recording, from))
    expect(undo(recording, [from, to]).update, message).toBeNull()
  }
})

const cutsPair = ({ store }: Y.Doc): boolean =>
  [...store.clients.values()]
    .flat()
    .some(
      (item) =>
        item instanceof Y.Item &&
        item.content instanceof Y.ContentString &&
        item.content.str.includes('\ufffd'),
    )

it(`[ATT-41] changes no character of other users if the changes of one user are undone (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const [recording, from] = record(random, editText)
    const to = recording.version
    const message = `seed ${seed + round}`
    const author = random.pick(users)
    const { deleted } = recording.attribution()
    const old = new Map(unitsOf(recording.at(from), 'text').map((unit) => [unit.id, unit]))
    const before = unitsOf(recording.at(), 'text')
    const { update } = undo(recording, [from, to], { by: author })
    const after = unitsOf(recording.at(), 'text')
    const character = characters[author]
    // The characters that the user has inserted are deleted, and all other ones are kept in their order.
    const isKept = ({ id, value }: { id: string; value: string }): boolean =>
      old.has(id) || value !== character
    const kept = before.filter(isKept)
    const ids = new Set(before.map(({ id }) => id))
    const remaining = after.filter(({ id }) => ids.has(id))
    expect(
      remaining.map(({ id }) => id),
      message,
    ).toEqual(kept.map(({ id }) => id))
    // Characters that others have inserted since then keep their formatting.
    const formats = new Map(before.map(({ id, attributes }) => [id, attributes]))
    for (const unit of remaining)
      if (!old.has(unit.id)) expect(unit.attributes, message).toBe(formats.get(unit.id))
    // Only characters that the user has deleted are restored.
    const restored = after.filter(({ id }) => !ids.has(id)).map(({ value }) => value)
    const wanted = [...wantedBack(recording, [from, to], author, deleted)]
    expect(restored.toSorted().join(''), message).toBe(wanted.toSorted().join(''))
    expect(undo(recording, [from, to], { by: author }).update, message).toBeNull()
    if (update === null) expect(after).toEqual(before)
  }
})

/** Changes the text, the attributes and the children of nested elements, maps and arrays. */
function editNested(doc: Y.Doc, random: Random, by: string): void {
  const root = doc.getXmlFragment('xml')
  const elements = [...root.createTreeWalker(() => true)].filter((node) => node instanceof Y.XmlElement)
  const parent = elements.length === 0 || random.once(3) ? root : random.pick(elements)
  const action = random.below(7)
  if (action < 2) {
    const element = new Y.XmlElement(random.pick(['paragraph', 'quote']))
    element.insert(0, [new Y.XmlText(by)])
    parent.insert(random.below(parent.length + 1), [element])
  } else if (action === 2 && parent.length > 0) parent.delete(random.below(parent.length), 1)
  else if (action === 3 && parent instanceof Y.XmlElement)
    parent.setAttribute('align', random.pick(['left', by]))
  else if (action === 4) {
    const inner = doc.getMap('map').get('inner')
    if (inner instanceof Y.Map) inner.set(random.pick(['a', 'b']), random.pick([by, new Y.Text(by)]))
    else doc.getMap('map').set('inner', new Y.Map([['a', by]]))
  } else if (action === 5) {
    const list = doc.getArray('list')
    const at = random.below(list.length + 1)
    if (random.once(3) && at < list.length) list.delete(at, 1)
    else list.insert(at, random.pick([[by, 1], [new Y.Text(by)]]))
  } else
    for (const node of root.createTreeWalker(() => true))
      if (node instanceof Y.XmlText && random.once(2)) {
        if (random.once(3) && node.length > 0) node.delete(random.below(node.length), 1)
        else node.insert(random.below(node.length + 1), by)
        return
      }
}

/** The ids of the live content, without formatting marks. */
function liveIds({ store }: Y.Doc): Set<string> {
  const ids = new Set<string>()
  for (const item of [...store.clients.values()].flat())
    for (let at = 0; at < item.length; at++)
      if (!item.deleted && item instanceof Y.Item && item.countable)
        ids.add(`${item.id.client}:${item.id.clock + at}`)
  return ids
}

it(`[ATT-41] deletes no content of other users in elements, maps and arrays (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const [recording, from] = record(random, editNested)
    const to = recording.version
    const message = `seed ${seed + round}`
    const author = random.pick(users)
    const before = liveIds(recording.at())
    const client = recording.replica(author).clientID
    const old = Y.decodeStateVector(Y.encodeStateVector(recording.at(from)))
    const isOwn = (id: string): boolean => {
      const [of, clock] = id.split(':').map(Number)
      return of === client && (clock as number) >= (old.get(client) ?? 0)
    }
    undo(recording, [from, to], { by: author })
    const after = liveIds(recording.at())
    const lost = [...before].filter((id) => !after.has(id) && !isOwn(id))
    expect(lost, message).toEqual([])
    expect(undo(recording, [from, to], { by: author }).update, message).toBeNull()
  }
})

it(`[ATT-40] gives the content of the earlier version of elements, maps and arrays (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const [recording, from] = record(random, editNested)
    const to = recording.version
    const message = `seed ${seed + round}`
    expect(undo(recording, [from, to]).notUndone, message).toEqual([])
    expect(contentAt(recording), message).toEqual(contentAt(recording, from))
    expect(undo(recording, [from, to]).update, message).toBeNull()
  }
})

it('[ATT-47] names the hunks whose content is no longer stored, and undoes the others', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'The quick fox'))
  const from = recording.version
  recording.change('ben', (doc) => text(doc).insert(4, 'very '))
  recording.change('eve', (doc) => text(doc).delete(0, 4))
  recording.change('eve', (doc) => text(doc).delete(0, 5))
  const state = Y.encodeStateAsUpdate(recording.at())
  const history = new DocumentHistory({ from: recording.bytes(0, from), to: [state] })
  const { update, undone, notUndone } = undoChanges(history, recording.attribution(), { by: 'eve' }, 'report')
  expect({ undone, notUndone }).toMatchObject({ undone: 0, notUndone: [{ reason: 'content-lost' }] })
  const doc = recording.at()
  Y.applyUpdate(doc, update as Uint8Array)
  expect(text(doc).toJSON()).toBe('The quick fox')
})

it('[ATT-46] undoes many changes in linear time', () => {
  const measure = (count: number): number => {
    const recording = new Recording()
    recording.change('ann', (doc) => text(doc).insert(0, '-'.repeat(count * 4)))
    const from = recording.version
    const doc = recording.doc('ben')
    for (let at = 0; at < count; at++)
      recording.edit('ben', () => {
        text(doc).delete(at * 4, 1)
        text(doc).insert(at * 4, 'x')
      })
    const history = recording.history(from)
    const attribution = recording.attribution()
    const start = cpuMs()
    expect(undoChanges(history, attribution, {}, 'report').undone).toBe(count)
    return cpuMs() - start
  }
  measure(500)
  const [small, large] = [measure(1_000), measure(8_000)]
  // Linear: 8 times. Quadratic: 64 times.
  expect(large).toBeLessThan(Math.max(small, 10) * 30)
})

/** The characters that a user has deleted and not inserted, from a model that reads each item of the document. */
function* wantedBack(
  recording: Recording,
  [from, to]: readonly [number, number],
  author: string,
  deleted: ReturnType<Recording['attribution']>['deleted'],
): Generator<string> {
  const { doc } = recording.history(0, to)
  const old = Y.decodeStateVector(Y.encodeStateVector(recording.at(from)))
  const gone = Y.createDeleteSetFromStructStore(recording.at(from).store)
  for (let item = doc.get('text')._start; item !== null; item = item.right) {
    if (!item.deleted || !(item.content instanceof Y.ContentString)) continue
    for (const [offset, value] of item.content.str.split('').entries()) {
      const id = Y.createID(item.id.client, item.id.clock + offset)
      const range = deleted
        .get(id.client)
        ?.find(({ clock, length }) => clock <= id.clock && id.clock < clock + length)
      const isNew = id.clock >= (old.get(id.client) ?? 0)
      const isOwn = isNew && value === characters[author]
      if (range?.origin.by === author && !Y.isDeleted(gone, id) && !isOwn) yield value
    }
  }
}

it(`[ATT-42] gives the same content for each order in which independent hunks are undone (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const recording = new Recording()
    const words = Array.from({ length: 12 }, (_, at) => `word${at} `)
    recording.change('ann', (doc) => text(doc).insert(0, words.join('')))
    const from = recording.version
    const free = words.map((_, word) => word)
    for (const by of users)
      for (let edits = 0; edits < 4; edits++)
        recording.change(by, (doc) => {
          const [word] = free.splice(random.below(free.length), 1)
          const at = text(doc).toJSON().indexOf(`word${word} `)
          if (random.once(3)) text(doc).format(at, 4, { bold: true })
          else if (random.once(2)) text(doc).delete(at, 5)
          else text(doc).insert(at, by)
        })
    const to = recording.version
    const { changes } = readChangeSets(recording.reader(from))
    const all = changes.flatMap(({ changeId, hunks }) =>
      hunks.map((_, hunk) => ({ changeId, hunks: [hunk] })),
    )
    const chosen = all.filter(() => random.once(2))
    const content = (order: typeof chosen, isTogether: boolean): unknown => {
      const copy = new Recording()
      for (const entry of recording.entries) copy.append(entry)
      copy.now = recording.now
      if (isTogether) undo(copy, [from, to], { changes: merged(order) })
      else for (const change of order) undo(copy, [from, to], { changes: [change] })
      return text(copy.at()).toJSON()
    }
    const message = `seed ${seed + round}`
    const expected = content(chosen, true)
    expect(content(chosen, false), message).toEqual(expected)
    expect(content(chosen.toReversed(), false), message).toEqual(expected)
  }
})

function merged(
  changes: readonly { changeId: string; hunks: number[] }[],
): { changeId: string; hunks: number[] }[] {
  const hunks = new Map<string, number[]>()
  for (const {
    changeId,
    hunks: [hunk = 0],
  } of changes)
    hunks.set(changeId, [...(hunks.get(changeId) ?? []), hunk])
  return [...hunks].map(([changeId, numbers]) => ({ changeId, hunks: numbers }))
}

it('[ATT-43] gives entries their older values unless another change has set them since', () => {
  const recording = new Recording()
  const map = (doc: Y.Doc): Y.Map<unknown> => doc.getMap('map')
  recording.change('ann', (doc) => {
    map(doc).set('title', 'old')
    map(doc).set('state', 'draft')
    map(doc).set('gone', new Y.Text('words'))
  })
  const from = recording.version
  recording.change('ben', (doc) => {
    map(doc).set('title', 'bens')
    map(doc).set('state', 'ready')
    map(doc).set('new', 1)
    map(doc).delete('gone')
  })
  recording.change('eve', (doc) => map(doc).set('title', 'eves'))
  const to = recording.version
  const [ben] = readChangeSets(recording.reader(from)).changes
  const result = undo(recording, [from, to], { by: 'ben' })
  expect(result).toMatchObject({
    undone: 3,
    notUndone: [{ changeId: ben?.changeId, reason: 'changed-since' }],
  })
  expect(ben?.hunks[result.notUndone[0]?.hunk ?? -1]?.anchor.path).toEqual(['title'])
  const json = () => recording.at().getMap('map').toJSON()
  expect(json()).toEqual({ title: 'eves', state: 'draft', gone: 'words' })
  expect(undo(recording, [from, to], { by: 'ben' }).update).toBeNull()
  undo(recording, [from, to], { by: 'eve' })
  expect(json()).toEqual({ title: 'bens', state: 'draft', gone: 'words' })
})

it('[ATT-43] names the parts of elements that it cannot undo, and keeps the content of others', () => {
  const recording = new Recording()
  const root = (doc: Y.Doc): Y.XmlFragment => doc.getXmlFragment('default')
  const paragraph = (words: string): Y.XmlElement => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText(words)])
    return element
  }
  const textAt = (doc: Y.Doc, at: number): Y.XmlText =>
    (root(doc).get(at) as Y.XmlElement).get(0) as Y.XmlText
  recording.change('ann', (doc) => root(doc).insert(0, [paragraph('one two'), paragraph('three')]))
  const from = recording.version
  recording.change('ben', (doc) => {
    root(doc).insert(2, [paragraph('bens own'), paragraph('shared ')])
    textAt(doc, 0).delete(0, 4)
  })
  recording.change('eve', (doc) => {
    textAt(doc, 3).insert(7, 'with eve')
    root(doc).delete(0, 1)
  })
  const to = recording.version
  const undone = undo(recording, [from, to], { by: 'ben' })
  expect(undone.notUndone.map(({ reason }) => reason).toSorted()).toEqual([
    'contains-other-changes',
    'deleted-container',
  ])
  expect(root(recording.at()).toJSON()).toBe('<paragraph>three</paragraph><paragraph>with eve</paragraph>')
  undo(recording, [from, to], { by: 'eve' })
  expect(root(recording.at()).toJSON()).toBe(
    '<paragraph>two</paragraph><paragraph>three</paragraph><paragraph></paragraph>',
  )
})

it('[ATT-103] keeps the attributes of an inserted element that stays because of the content of others', () => {
  const recording = new Recording()
  const root = (doc: Y.Doc): Y.XmlFragment => doc.getXmlFragment('default')
  const heading = (doc: Y.Doc, at: number): Y.XmlElement => root(doc).get(at) as Y.XmlElement
  recording.change('ann', (doc) => root(doc).insert(0, [new Y.XmlElement('paragraph')]))
  const from = recording.version
  recording.change('ben', (doc) => {
    for (const words of ['Plan', 'Gone']) {
      const element = new Y.XmlElement('heading')
      element.setAttribute('level', '2')
      element.insert(0, [new Y.XmlText(words)])
      root(doc).insert(1, [element])
    }
    heading(doc, 2).setAttribute('align', 'left')
  })
  recording.change('eve', (doc) => (heading(doc, 2).get(0) as Y.XmlText).insert(4, ' of eve'))
  const to = recording.version
  const content = (): string => root(recording.at()).toJSON()
  const kept = '<paragraph></paragraph><heading align="left" level="2"> of eve</heading>'
  expect(undo(recording, [from, to], { by: 'ben' })).toMatchObject({
    notUndone: [{ reason: 'contains-other-changes' }],
  })
  expect(content()).toBe(kept)
  expect(undo(recording, [from, to], { by: 'ben' }).update).toBeNull()

  // Later changes of the attributes are undone.
  const later = recording.version
  recording.now += 3_600_000
  recording.change('ben', (doc) => {
    heading(doc, 1).setAttribute('level', '3')
    heading(doc, 1).removeAttribute('align')
    heading(doc, 1).setAttribute('color', 'red')
  })
  expect(content()).toBe('<paragraph></paragraph><heading color="red" level="3"> of eve</heading>')
  undo(recording, [from, recording.version], { by: 'ben' })
  expect(content()).toBe(kept)
  expect(undo(recording, [from, recording.version], { by: 'ben' }).update).toBeNull()
  expect(undo(recording, [later, recording.version]).notUndone).toEqual([])
})

const xmlRoot = (doc: Y.Doc): Y.XmlFragment => doc.getXmlFragment('default')
const xmlElement = (doc: Y.Doc, at: number): Y.XmlElement => xmlRoot(doc).get(at) as Y.XmlElement

/** Ben inserts a heading with level 1 after a paragraph of ann, and eve types in it. */
function recordHeading(origin: Partial<ChangeOrigin> = {}): [Recording, number] {
  const recording = new Recording()
  recording.change('ann', (doc) => xmlRoot(doc).insert(0, [new Y.XmlElement('paragraph')]))
  const from = recording.version
  const insert = (doc: Y.Doc): void => {
    const element = new Y.XmlElement('heading')
    element.setAttribute('level', '1')
    element.insert(0, [new Y.XmlText('Plan')])
    xmlRoot(doc).insert(1, [element])
  }
  recording.change('ben', insert, origin)
  recording.change('eve', (doc) => (xmlElement(doc, 1).get(0) as Y.XmlText).insert(4, ' of eve'))
  return [recording, from]
}

const keptHeading = '<paragraph></paragraph><heading level="1"> of eve</heading>'

it.each([undefined, 60, 0])(
  '[ATT-103] undoes later changes of attributes with groups of %s seconds',
  (groupSeconds) => {
    const [recording, from] = recordHeading()
    recording.now += 200_000
    recording.change('ben', (doc) => {
      xmlElement(doc, 1).setAttribute('level', '3')
      xmlElement(doc, 1).setAttribute('align', 'center')
    })
    const to = recording.version
    const content = (): string => xmlRoot(recording.at()).toJSON()
    const { notUndone } = undo(recording, [from, to], { by: 'ben', groupSeconds })
    expect(new Set(notUndone.map(({ reason }) => reason))).toEqual(new Set(['contains-other-changes']))
    expect(content()).toBe(keptHeading)
    expect(undo(recording, [from, to], { by: 'ben', groupSeconds }).update).toBeNull()
    undo(recording, [from, to], { by: 'eve' })
    undo(recording, [from, to], { by: 'ben', groupSeconds })
    expect(content()).toBe('<paragraph></paragraph>')
  },
)

it.each([
  ['the same meta', { step: 1 }],
  ['other meta', { step: 2 }],
])('[ATT-103] gives attributes their first values after changes of a moment with %s', (_, meta) => {
  const [recording, from] = recordHeading({ meta: { step: 1 } })
  for (const level of ['2', '3'])
    recording.change('ben', (doc) => xmlElement(doc, 1).setAttribute('level', level), { meta })
  const content = (): string => xmlRoot(recording.at()).toJSON()
  const removed = recording.version
  undo(recording, [from, removed], { by: 'ben' })
  expect(content()).toBe(keptHeading)
  recording.change('ben', (doc) => xmlElement(doc, 1).removeAttribute('level'), { meta })
  undo(recording, [from, recording.version], { by: 'ben' })
  expect(content()).toBe(keptHeading)
})

it('[ATT-103] undoes an attribute that an element gets in another change', () => {
  const [recording, from] = recordHeading({ meta: { step: 1 } })
  const align = (doc: Y.Doc): void => xmlElement(doc, 1).setAttribute('align', 'center')
  recording.change('ben', align, { meta: { step: 2 } })
  undo(recording, [from, recording.version], { by: 'ben' })
  expect(xmlRoot(recording.at()).toJSON()).toBe(keptHeading)
})

it('[ATT-103] keeps a value that replaces another one in the change that inserts the element', () => {
  const recording = new Recording()
  recording.change('ben', (doc) => {
    xmlRoot(doc).insert(0, [new Y.XmlElement('heading')])
    for (const level of ['1', '2', '3']) xmlElement(doc, 0).setAttribute('level', level)
  })
  recording.change('eve', (doc) => xmlElement(doc, 0).insert(0, [new Y.XmlText('eve')]))
  undo(recording, [0, recording.version], { by: 'ben' })
  expect(xmlRoot(recording.at()).toJSON()).toBe('<heading level="3">eve</heading>')
})

const lexicalRoot = (doc: Y.Doc): Y.XmlText => doc.get('root', Y.XmlText)
const embeddedIn = (text: Y.XmlText, at: number): unknown => text.toDelta()[at]?.insert

/** Inserts a paragraph of Lexical. */
function insertParagraph(doc: Y.Doc, at: number, words: string): void {
  const paragraph = new Y.XmlText()
  lexicalRoot(doc).insertEmbed(at, paragraph)
  paragraph.setAttribute('__type', 'paragraph')
  insertTextNode(paragraph, 0, words)
}

function insertTextNode(paragraph: Y.XmlText, at: number, words: string): void {
  const node = new Y.Map<unknown>()
  paragraph.insertEmbed(at, node)
  const state = new Y.Map([['color', 'red']])
  for (const [key, value] of Object.entries({ __type: 'text', __format: 0, __mode: 0, __style: '' }))
    node.set(key, value)
  node.set('__state', state)
  paragraph.insert(at + 1, words)
}

/** Returns the attributes and the content of a paragraph. */
function paragraphAt(doc: Y.Doc, at: number): unknown {
  const paragraph = embeddedIn(lexicalRoot(doc), at) as Y.XmlText
  const content = paragraph.toDelta() as { insert: unknown }[]
  return [
    paragraph.getAttributes(),
    ...content.map(({ insert }) => (insert instanceof Y.Map ? insert.toJSON() : insert)),
  ]
}

const textNode = { __type: 'text', __format: 0, __mode: 0, __style: '', __state: { color: 'red' } }

it.each([
  ['sets its format and types', 1],
  ['only types', 0],
])('[ATT-104] keeps a text node of Lexical in which another user %s', (_, format) => {
  const recording = new Recording()
  recording.change('ann', (doc) => insertParagraph(doc, 0, 'One'))
  const from = recording.version
  recording.change('ben', (doc) => insertParagraph(doc, 1, 'Hello'))
  recording.change('eve', (doc) => {
    const paragraph = embeddedIn(lexicalRoot(doc), 1) as Y.XmlText
    if (format === 1) (embeddedIn(paragraph, 0) as Y.Map<unknown>).set('__format', format)
    paragraph.insert(6, ' eve')
  })
  const to = recording.version
  const { notUndone } = undo(recording, [from, to], { by: 'ben' })
  expect(notUndone.map(({ reason }) => reason)).toEqual(['contains-other-changes'])
  expect(paragraphAt(recording.at(), 1)).toEqual([
    { __type: 'paragraph' },
    { ...textNode, __format: format },
    ' eve',
  ])
  expect(undo(recording, [from, to], { by: 'ben' }).update).toBeNull()
  undo(recording, [from, to], { by: 'eve' })
  undo(recording, [from, to], { by: 'ben' })
  expect(lexicalRoot(recording.at()).length).toBe(1)
})

it('[ATT-104] undoes a text node in the paragraph of another user, unless others have typed in it', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => insertParagraph(doc, 0, 'One'))
  const from = recording.version
  const paragraph = (doc: Y.Doc): Y.XmlText => embeddedIn(lexicalRoot(doc), 0) as Y.XmlText
  recording.change('ben', (doc) => {
    insertTextNode(paragraph(doc), 4, ' gone')
    insertTextNode(paragraph(doc), 10, ' kept')
  })
  recording.change('eve', (doc) => paragraph(doc).insert(16, ' eve'))
  undo(recording, [from, recording.version], { by: 'ben' })
  expect(paragraphAt(recording.at(), 0)).toEqual([{ __type: 'paragraph' }, textNode, 'One', textNode, ' eve'])
})

it('[ATT-44] restores formatting, and does not change that of others', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, '0123456789'))
  const from = recording.version
  recording.change('ben', (doc) => text(doc).format(0, 8, { bold: true }))
  recording.change('eve', (doc) => text(doc).format(2, 3, { bold: null }))
  recording.change('eve', (doc) => text(doc).format(8, 2, { color: 'red' }))
  const to = recording.version
  undo(recording, [from, to], { by: 'ben' })
  expect(recording.at().getText('text').toDelta()).toEqual([
    { insert: '01234567' },
    { insert: '89', attributes: { color: 'red' } },
  ])
  undo(recording, [from, to], { by: 'eve' })
  expect(recording.at().getText('text').toDelta()).toEqual([{ insert: '0123456789' }])
})

it('[ATT-44] restores a formatting of others that the undone change has removed', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'one two three'))
  const from = recording.version
  recording.change('ann', (doc) => text(doc).format(4, 3, { bold: true }))
  recording.change('ben', (doc) => text(doc).format(4, 3, { bold: null }))
  const to = recording.version
  for (let times = 0; times < 2; times++) {
    expect(undo(recording, [from, to], { by: 'ben' })).toMatchObject({ undone: 1, notUndone: [] })
    expect(text(recording.at()).toDelta()[1]).toEqual({ insert: 'two', attributes: { bold: true } })
  }
})

it('[ATT-45] undoes an undo, and then undoes the changes again', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'The quick fox'))
  const from = recording.version
  recording.change('ben', (doc) => text(doc).delete(4, 6))
  recording.change('ben', (doc) => text(doc).insert(4, 'slow '))
  const to = recording.version
  const content = (): string => recording.at().getText('text').toJSON()
  for (let times = 0; times < 3; times++) {
    const before = recording.version
    undo(recording, [from, to])
    expect(content()).toBe('The quick fox')
    undo(recording, [before, before + 1])
    expect(content()).toBe('The slow fox')
  }
  expect(undo(recording, [from, to], { changes: [{ changeId: 'unknown' }] })).toEqual({
    update: null,
    undone: 0,
    notUndone: [{ changeId: 'unknown', hunk: null, reason: 'unknown-change' }],
    otherAuthors: null,
  })
})

it('[ATT-101] restores content once if it was restored and deleted again', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => text(doc).insert(0, 'xABCDy'))
  const from = recording.version
  const content = (): string => text(recording.at()).toJSON()
  recording.change('ben', (doc) => text(doc).delete(1, 4))
  undo(recording, [from, recording.version], { by: 'ben' })
  expect(content()).toBe('xABCDy')
  recording.change('ben', (doc) => text(doc).delete(2, 2))
  for (let times = 0; times < 2; times++) {
    undo(recording, [from, recording.version], { by: 'ben' })
    expect(content()).toBe('xABCDy')
  }
  for (let times = 0; times < 2; times++) {
    undo(recording, [from, recording.version])
    expect(content()).toBe('xABCDy')
  }
})

it('[ATT-101] restores an element if the undo also deletes its copy', () => {
  const recording = new Recording()
  const root = (doc: Y.Doc): Y.XmlFragment => doc.getXmlFragment('xml')
  recording.change('ann', (doc) => {
    const element = new Y.XmlElement('p')
    element.insert(0, [new Y.XmlText('old')])
    root(doc).insert(0, [element])
  })
  const from = recording.version
  recording.change('ben', (doc) => root(doc).delete(0, 1))
  undo(recording, [from, recording.version])
  recording.change('ann', (doc) => ((root(doc).get(0) as Y.XmlElement).get(0) as Y.XmlText).insert(0, 'new '))
  undo(recording, [from, recording.version])
  expect(root(recording.at()).toJSON()).toBe('<p>old</p>')
})

it(`[ATT-101] gives the content of the earlier version if earlier undos are among the changes (seed ${seed})`, () => {
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed + round)
    const [recording, from] = record(random, editPlainText)
    for (let step = random.below(12); step > 0; step--)
      if (random.once(2))
        undo(recording, [from, recording.version], { by: random.pick([...users, 'undoer']) })
      else recording.change(random.pick(users), (doc) => editPlainText(doc, random, 'zoe'))
    const message = `seed ${seed + round}`
    const to = recording.version
    undo(recording, [from, to])
    expect(text(recording.at()).toJSON(), message).toBe(text(recording.at(from)).toJSON())
    expect(undo(recording, [from, recording.version]).update, message).toBeNull()
  }
})

/** Types and deletes. */
function editPlainText(doc: Y.Doc, random: Random, by: string): void {
  const { length } = text(doc)
  const at = random.below(length + 1)
  if (random.once(2)) text(doc).insert(at, by.slice(0, 1).repeat(1 + random.below(4)))
  else text(doc).delete(at, Math.min(length - at, 1 + random.below(5)))
}

it(`[ATT-44] restores or names each formatting of others that the undone change has removed (seed ${seed})`, () => {
  let restored = 0
  for (let round = 0; round < times(100, 3_000); round++) {
    const random = new Random(seed + round)
    const recording = new Recording()
    const length = 8
    recording.change('ann', (doc) => text(doc).insert(0, 'x'.repeat(length)))
    const from = recording.version
    // For each character, the value and the user of the last change, and the last value of others.
    const units = Array.from({ length }, () => ({ value: null as unknown, by: '', others: null as unknown }))
    for (const [step, by] of ['ann', 'ann', 'agent'].entries()) {
      const value = by === 'agent' ? null : random.once(3) ? null : `${by}${step}`
      const start = random.below(length)
      const end = start + 1 + random.below(length - start)
      recording.change(by, (doc) => text(doc).format(start, end - start, { color: value }))
      for (const unit of units.slice(start, end)) {
        if (isDeepStrictEqual(unit.value, value)) continue
        Object.assign(unit, { value, by, ...(by === 'ann' && { others: value }) })
      }
    }
    const to = recording.version
    const before = JSON.stringify(text(recording.at()).toDelta())
    const { notUndone } = undo(recording, [from, to], { by: 'agent' })
    const delta = text(recording.at()).toDelta()
    const values = delta.flatMap(
      ({ insert, attributes }: { insert: string; attributes?: { color: unknown } }) =>
        insert.split('').map(() => attributes?.color ?? null),
    )
    const message = JSON.stringify({ round, seed, before, units, delta })
    for (const [at, { value, by, others }] of units.entries())
      if (by !== 'agent' || notUndone.length === 0)
        expect(values[at], message).toBe(by === 'agent' ? others : value)
    expect(undo(recording, [from, to], { by: 'agent' }).update, message).toBeNull()
    restored += units.filter(
      ({ by, others }, at) => by === 'agent' && others !== null && values[at] === others,
    ).length
  }
  expect(restored).toBeGreaterThan(50)
})
