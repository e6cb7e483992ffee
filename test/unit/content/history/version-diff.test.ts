import { expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DiffFormat } from '../../../../src/core/content/content-type-names.ts'
import {
  diffJson,
  type JsonPatchStep,
  readVersionDiff,
} from '../../../../src/core/content/history/diff/version-diff.ts'
import type { Json } from '../../../../src/core/content/json/json.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { Recording } from './support.ts'

function diffOf(recording: Recording, from: number, format: DiffFormat, contentKey?: string): unknown {
  const history = recording.history(from)
  try {
    const { diff } = readVersionDiff(history, { format, contentKey }, 1_000_000)
    return JSON.parse(Buffer.concat(diff.parts).toString()) as unknown
  } finally {
    history.destroy()
  }
}

/** Applies operations of JSON Patch to a copy of a value. */
function patched(value: Json, operations: readonly JsonPatchStep[]): unknown {
  const box: Record<string, unknown> = { root: structuredClone(value) }
  for (const operation of operations) {
    const path = ['root', ...operation.path.split('/').slice(1)].map((token) =>
      token.replaceAll('~1', '/').replaceAll('~0', '~'),
    )
    const name = path.pop() as string
    const parent = path.reduce<unknown>((at, token) => Reflect.get(at as object, token), box)
    if (Array.isArray(parent)) {
      const index = Number(name)
      if (operation.op === 'remove') parent.splice(index, 1)
      else parent.splice(index, operation.op === 'add' ? 0 : 1, operation.value)
    } else if (operation.op === 'remove') Reflect.deleteProperty(parent as object, name)
    else Reflect.set(parent as object, name, operation.value)
  }
  return box.root
}

const paragraph = (...texts: readonly string[]): Y.XmlElement => {
  const element = new Y.XmlElement('paragraph')
  element.insert(
    0,
    texts.map((text) => new Y.XmlText(text)),
  )
  return element
}
const fragmentOf = (doc: Y.Doc): Y.XmlFragment => doc.getXmlFragment('default')
const textAt = (doc: Y.Doc, index: number): Y.XmlText =>
  (fragmentOf(doc).get(index) as Y.XmlElement).get(0) as Y.XmlText

/** A document with a changed, a deleted and an inserted paragraph, and a deleted divider. */
function edited(): { readonly recording: Recording; readonly from: number } {
  const recording = new Recording()
  recording.change('ann', (doc) =>
    fragmentOf(doc).insert(0, [
      paragraph('We ship on Monday.'),
      paragraph('Old plan.'),
      new Y.XmlElement('horizontalRule'),
      paragraph('End.'),
    ]),
  )
  const from = recording.version
  recording.change('ben', (doc) => {
    textAt(doc, 0).delete(11, 3)
    textAt(doc, 0).insert(11, 'Fri', { bold: {} })
    fragmentOf(doc).delete(1, 2)
    fragmentOf(doc).insert(1, [paragraph('New plan.')])
  })
  return { recording, from }
}

it('[ATT-76] shows rich text of two versions as runs, with the change of each', () => {
  const { recording, from } = edited()
  expect(diffOf(recording, from, 'runs')).toEqual([
    { change: 'none', path: [0], node: 'paragraph' },
    { change: 'none', path: [0, 0, 0], text: 'We ship on ' },
    { change: 'delete', path: [0, 0, 11], text: 'Mon' },
    { change: 'insert', path: [0, 0, 11], text: 'Fri' },
    { change: 'none', path: [0, 0, 14], text: 'day.' },
    { change: 'delete', path: [1], node: 'paragraph' },
    { change: 'delete', path: [1, 0, 0], text: 'Old plan.' },
    { change: 'delete', path: [1], node: 'horizontalRule' },
    { change: 'insert', path: [1], node: 'paragraph' },
    { change: 'insert', path: [1, 0, 0], text: 'New plan.' },
    { change: 'none', path: [2], node: 'paragraph' },
    { change: 'none', path: [2, 0, 0], text: 'End.' },
  ])
})

it('[ATT-76] marks insertions and deletions in Markdown', () => {
  const { recording, from } = edited()
  expect(diffOf(recording, from, 'markdown')).toBe(
    'We ship on <del>Mon</del>**<ins>Fri</ins>**day.\n\n<del>Old plan.</del>\n\n---\n\n<ins>New plan.</ins>\n\nEnd.\n',
  )
  const plain = new Recording()
  plain.change('ann', (doc) => doc.getText('text').insert(0, 'one\ntwo\n'))
  plain.change('ben', (doc) => {
    doc.getText('text').delete(4, 4)
    doc.getText('text').insert(4, '2\n3\n\uFDD1<b>')
  })
  expect(diffOf(plain, 1, 'markdown')).toMatch(/<del>two<\/del>.*<ins>2<\/ins>.*<ins>3<\/ins>/s)
})

it('[ATT-76] marks insertions and deletions in ProseMirror JSON, also of nodes without text', () => {
  const { recording, from } = edited()
  const text = (value: string, ...marks: readonly string[]) => ({
    type: 'text',
    text: value,
    ...(marks.length > 0 && {
      marks: expect.arrayContaining(marks.map((type) => expect.objectContaining({ type }))),
    }),
  })
  const node = (content: readonly object[], ...marks: readonly string[]) => ({
    type: 'paragraph',
    ...(marks.length > 0 && { marks: marks.map((type) => ({ type })) }),
    content,
  })
  expect(diffOf(recording, from, 'prosemirror')).toEqual({
    type: 'doc',
    content: [
      node([text('We ship on '), text('Mon', 'deletion'), text('Fri', 'bold', 'insertion'), text('day.')]),
      node([text('Old plan.', 'deletion')], 'deletion'),
      { type: 'horizontalRule', marks: [{ type: 'deletion' }] },
      node([text('New plan.', 'insertion')], 'insertion'),
      node([text('End.')]),
    ],
  })
})

it('[ATT-76] rejects a format that the root does not have', () => {
  const recording = new Recording()
  recording.change('ann', (doc) => {
    doc.getMap('map').set('k', 1)
    doc.getText('text').insert(0, 'a')
  })
  const error = expect.objectContaining({ code: 'crdt/root-kind-mismatch' }) as Error
  expect(() => diffOf(recording, 0, 'markdown', 'map')).toThrow(error)
  expect(() => diffOf(recording, 0, 'prosemirror', 'text')).toThrow(error)
  expect(() => diffOf(recording, 0, 'patch', 'text')).toThrow(error)
  expect(() => diffOf(recording, 0, 'runs', 'none')).toThrow(
    expect.objectContaining({ code: 'crdt/root-not-found' }) as Error,
  )
})

it(`[ATT-76] the runs of a text contain both versions (seed ${seed})`, () => {
  const random = new Random(seed)
  for (let round = 0; round < times(30, 300); round += 1) {
    const recording = new Recording()
    const edit = (steps: number): void => {
      for (let step = 0; step < steps; step += 1)
        recording.change(random.pick(['ann', 'ben']), (doc) => {
          const text = doc.getText('text')
          const at = random.below(text.length + 1)
          if (random.below(3) === 0) text.delete(at, Math.min(random.below(5), text.length - at))
          else text.insert(at, random.pick(['abc', 'x', '\n', '漢字']))
        })
    }
    recording.change('ann', (doc) => doc.getText('text').insert(0, 'start'))
    edit(random.below(20))
    const [before, from] = [recording.doc('ann').getText('text').toString(), recording.version]
    edit(random.below(20))
    const after = recording.doc('ann').getText('text').toString()
    const runs = diffOf(recording, from, 'runs') as { change: string; text: string }[]
    const textOf = (change: string) =>
      runs.map((run) => (run.change === 'none' || run.change === change ? run.text : '')).join('')
    expect([textOf('delete'), textOf('insert')]).toEqual([before, after])
  }
})

it(`[ATT-76] the JSON Patch of a map and an array converts the earlier to the later version (seed ${seed})`, () => {
  const random = new Random(seed)
  const value = (depth: number): Json => {
    const kind = random.below(depth === 0 ? 3 : 5)
    if (kind === 3) return Array.from({ length: random.below(5) }, () => value(depth - 1))
    if (kind === 4)
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [
          random.pick(['a/b', 'c~', 'd', '']),
          value(depth - 1),
        ]),
      )
    return random.pick<Json>([null, true, 1, 2, 'text', 'other'])
  }
  for (let round = 0; round < times(300, 3_000); round += 1) {
    const [before, after] = [value(4), value(4)]
    expect(patched(before, diffJson(before, after))).toEqual(after)
  }
  const recording = new Recording()
  recording.change('ann', (doc) => {
    doc.getMap('map').set('color', 'red')
    doc.getMap('map').set('nested', new Y.Map([['size', 1]]))
  })
  const from = recording.version
  recording.change('ben', (doc) => {
    doc.getMap('map').set('color', 'blue')
    ;(doc.getMap('map').get('nested') as Y.Map<unknown>).set('size', 2)
  })
  expect(diffOf(recording, from, 'patch')).toEqual([
    { op: 'replace', path: '/color', value: 'blue' },
    { op: 'replace', path: '/nested/size', value: 2 },
  ])
})
