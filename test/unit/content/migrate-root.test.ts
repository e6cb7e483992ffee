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
      const { changed } = migrateRoot(doc, 'default', plan)
      if (changed) migrated += 1
      const content = doc.getXmlFragment('default').toString()
      expect(migrateRoot(doc, 'default', plan)).toEqual({ changed: false, insertions: 0, deletions: 0 })
      expect(doc.getXmlFragment('default').toString()).toBe(content)
    }),
    { seed, numRuns: 500 },
  )
  expect(migrated).toBeGreaterThan(50)
})
