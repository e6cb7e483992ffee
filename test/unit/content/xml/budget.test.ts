import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { budgetFor } from '../../../../src/core/content/xml/budget.ts'
import { checkXml, planTree } from '../../../../src/core/content/xml/xml.ts'
import { docOf, plainKey, xmlOf } from '../xml-support.ts'

const { tree } = fc.letrec<{ tree: string; node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('one', 'two words', 'x'),
    fc
      .tuple(fc.constantFrom('p', 'q', 'li'), fc.array(tie('node'), { maxLength: 4 }))
      .map(([name, children]) => `<${name}>${children.join('')}</${name}>`),
  ),
  tree: fc.array(tie('node'), { maxLength: 4 }).map((nodes) => nodes.join('')),
}))

test('[R7] when too much of an element would be deleted, writes the element again, with the correct result', () => {
  fc.assert(
    fc.property(tree, tree, fc.integer({ min: 0, max: 100 }), (before, after, deletionsLeft) => {
      const doc = docOf(before)
      const root = doc.get(plainKey)
      const update = planTree(root, plainKey, checkXml(after), {
        effort: { ...budgetFor(10), deletionsLeft },
      })
      if (update !== null) doc.transact((transaction) => update(transaction, root))
      expect(xmlOf(doc)).toBe(xmlOf(docOf(after)))
    }),
  )
})

test('[R7] when one element is written again, keeps its siblings that have few deletions', () => {
  const doc = docOf('<ul><li>a</li><li>b</li></ul><ul><li>c</li><li>d</li><li>e</li></ul>')
  const root = doc.get(plainKey)
  const [one, two] = doc.getXmlFragment(plainKey).toArray()
  const after = checkXml('<ul><li>a</li></ul><ul><li>c</li></ul>')
  const update = planTree(root, plainKey, after, { effort: { ...budgetFor(10), deletionsLeft: 15 } })
  doc.transact((transaction) => update?.(transaction, root))
  expect(xmlOf(doc)).toBe('<ul><li>a</li></ul><ul><li>c</li></ul>')
  const [first, second] = doc.getXmlFragment(plainKey).toArray()
  expect([first === one, second === two]).toEqual([true, false])
})
