import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../src/core/base/errors.ts'
import { migrateRoot } from '../../../src/core/content/migration/migrate-root.ts'
import {
  MigrationPlan,
  type MigrationRule,
  migrationRules,
} from '../../../src/core/content/migration/rules.ts'
import { overlappingKey } from '../../../src/core/content/xml/stored-marks.ts'
import { seed } from '../../support/data/seed.ts'

const name = fc.constantFrom('a', 'b', 'c')
const rule = fc
  .record({ rule: fc.constantFrom(...migrationRules), name, node: name, to: name })
  .map(({ rule: kind, name: of, node, to }): MigrationRule => {
    const isOfNode = kind.endsWith('Attribute') || kind === 'setDefault'
    const isTargeted = kind.startsWith('rename') || kind === 'wrapNode'
    return { rule: kind, name: of, ...(isOfNode && { node }), ...(isTargeted && { to }), value: 1 }
  })

interface Tree {
  readonly name: string
  readonly attribute: string
  readonly mark: string
  readonly children: readonly Tree[]
}
const facts = { name, attribute: name, mark: name }
const leaf = fc.record({ ...facts, children: fc.constant<readonly Tree[]>([]) })
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ ...facts, children: fc.array(tie('tree'), { maxLength: 3 }) }),
  ),
}))

function elementOf(node: Tree): Y.XmlElement {
  const element = new Y.XmlElement(node.name)
  element.setAttribute(node.attribute, 'x')
  const text = new Y.XmlText()
  text.applyDelta([
    { insert: 'one', attributes: { [node.mark]: {} } },
    { insert: 'two', attributes: { [overlappingKey(node.mark, { id: 1 })]: { id: 1 } } },
  ])
  element.insert(0, [text, ...node.children.map(elementOf)])
  return element
}

it(`[FMT-206] changes nothing when the same rules are applied a second time (seed ${seed})`, () => {
  let migrated = 0
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 4 }), fc.array(rule, { maxLength: 5 }), (trees, rules) => {
      let plan: MigrationPlan
      try {
        plan = new MigrationPlan(rules)
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError)
        return
      }
      const doc = new Y.Doc()
      doc.getXmlFragment('default').insert(0, trees.map(elementOf))
      const client = new Y.Doc()
      Y.applyUpdate(client, Y.encodeStateAsUpdate(doc))
      const { changed } = migrateRoot(doc, 'default', plan)
      const cleanups: boolean[] = []
      client.on('update', (_update, _origin, _doc, { local }) => cleanups.push(local))
      Y.applyUpdate(client, Y.encodeStateAsUpdate(doc))
      expect(cleanups).not.toContain(true)
      if (changed) migrated += 1
      const content = doc.getXmlFragment('default').toString()
      expect(migrateRoot(doc, 'default', plan)).toEqual({ changed: false, insertions: 0, deletions: 0 })
      expect(doc.getXmlFragment('default').toString()).toBe(content)
    }),
    { seed, numRuns: 500 },
  )
  expect(migrated).toBeGreaterThan(50)
})

it('[FMT-213] keeps everything in renamed and wrapped nodes, also content that no rule names', () => {
  const doc = new Y.Doc()
  const list = new Y.XmlElement('list')
  const item = new Y.XmlElement('item')
  const text = new Y.XmlText()
  const embedded = new Y.Map([['a', 1]])
  const hook = new Y.XmlHook('chart')
  list.setAttribute('data', new Y.Map([['b', 2]]) as unknown as string)
  doc.getXmlFragment('default').insert(0, [list])
  list.insert(0, [item, hook as unknown as Y.XmlElement])
  hook.set('c', 3)
  item.insert(0, [text, new Y.XmlElement('list')])
  text.insert(0, 'bold', { strong: true })
  text.insertEmbed(4, embedded)
  const plan = new MigrationPlan([
    { rule: 'renameNode', name: 'list', to: 'bullets' },
    { rule: 'renameAttribute', node: 'bullets', name: 'data', to: 'facts' },
    { rule: 'wrapNode', name: 'item', to: 'row' },
    { rule: 'renameMark', name: 'strong', to: 'bold' },
  ])
  migrateRoot(doc, 'default', plan)
  const copied = new Y.Doc()
  Y.applyUpdate(copied, Y.encodeStateAsUpdate(doc))
  const bullets = copied.getXmlFragment('default').get(0) as Y.XmlElement
  const [row, chart] = bullets.toArray() as unknown as [Y.XmlElement, Y.XmlHook]
  const [words, inner] = (row.get(0) as Y.XmlElement).toArray() as [Y.XmlText, Y.XmlElement]
  const facts = bullets.getAttribute('facts') as unknown as Y.Map<unknown>
  expect([bullets.nodeName, row.nodeName, inner.nodeName]).toEqual(['bullets', 'row', 'bullets'])
  expect([facts.toJSON(), chart.toJSON()]).toEqual([{ b: 2 }, { c: 3 }])
  expect(words.toDelta()).toEqual([
    { insert: 'bold', attributes: { bold: true } },
    { insert: expect.any(Y.Map) },
  ])
})

it('[FMT-200] keeps a mark and an attribute that have the new name already', () => {
  const doc = new Y.Doc()
  const [node, text] = [new Y.XmlElement('p'), new Y.XmlText()]
  doc.getXmlFragment('default').insert(0, [node])
  node.insert(0, [text])
  for (const [name, value] of Object.entries({ old: '1', now: '2' })) node.setAttribute(name, value)
  text.insert(0, 'x', { link: { href: '1' } })
  text.insert(1, 'y', { a: { href: '2' }, link: { href: '1' } })
  const rules: MigrationRule[] = [
    { rule: 'renameMark', name: 'link', to: 'a' },
    { rule: 'renameAttribute', node: 'p', name: 'old', to: 'now' },
  ]
  migrateRoot(doc, 'default', new MigrationPlan(rules))
  expect(node.getAttributes()).toEqual({ now: '2' })
  expect(text.toDelta()).toEqual([
    { insert: 'x', attributes: { a: { href: '1' } } },
    { insert: 'y', attributes: { a: { href: '2' } } },
  ])
})

it('[FMT-213] copies nested nodes once', () => {
  const doc = new Y.Doc()
  let parent: Y.XmlElement | Y.XmlFragment = doc.getXmlFragment('default')
  for (let depth = 0; depth < 50; depth += 1) {
    const list = new Y.XmlElement('list')
    parent.insert(0, [list])
    parent = list
  }
  const rules = [
    { rule: 'renameNode', name: 'list', to: 'bullets' },
    { rule: 'wrapNode', name: 'bullets', to: 'row' },
  ] as const
  expect(migrateRoot(doc, 'default', new MigrationPlan(rules))).toMatchObject({
    insertions: 100,
    deletions: 50,
  })
})
