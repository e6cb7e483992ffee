import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  anyText,
  authored,
  basicPlane,
  deltaIn,
  key,
  loaded,
  replaceText,
  runs,
  steps,
  take,
  textOf,
  unitsOf,
  updatesOf,
  wellFormed,
} from './support.ts'

test('[R3] gives every replica the target content with a single update', () => {
  fc.assert(
    fc.property(steps(anyText), anyText, fc.boolean(), (made, target, sameReplica) => {
      const author = authored(made)
      const server = sameReplica ? author : loaded(author)
      const client = loaded(author, 3)
      const updates = updatesOf(server, () => replaceText(server, target))
      for (const update of updates) Y.applyUpdate(client, update)
      expect(updates.length).toBeLessThanOrEqual(1)
      expect(server.getText(key).toJSON()).toBe(target.toWellFormed())
      expect(client.getText(key).toJSON()).toBe(target.toWellFormed())
      expect(textOf(server)).toBe(target.toWellFormed())
    }),
    runs,
  )
})

test('[R3] creates no transaction and no update if the content is the same', () => {
  fc.assert(
    fc.property(steps(anyText), anyText, (made, target) => {
      const server = loaded(authored(made))
      const { changed } = replaceText(server, target)
      let transactions = 0
      server.on('afterTransaction', () => {
        transactions += 1
      })
      expect(replaceText(server, target)).toEqual({ changed: false, insertions: 0, deletions: 0 })
      expect(transactions).toBe(0)
      expect(changed).toBe(textOf(loaded(authored(made))) !== target.toWellFormed())
    }),
    runs,
  )
})

test('[R8] keeps the identity and the attributes of unchanged text', () => {
  fc.assert(
    fc.property(steps(wellFormed), wellFormed, (made, target) => {
      const server = loaded(authored(made))
      const before = new Map(unitsOf(server).map((unit) => [unit.id, unit]))
      const { insertions, deletions } = replaceText(server, target)
      const after = unitsOf(server)
      const kept = after.filter(({ id }) => before.has(id))
      for (const unit of kept) expect(unit).toEqual(before.get(unit.id))
      expect(before.size - kept.length).toBe(deletions)
      expect(after.length - kept.length).toBe(insertions)
    }),
    runs,
  )
})

test('[R8] keeps every character, formatting and cursor in the words around an edit', () => {
  const word = fc.constantFrom<string>('the', 'fox', 'Zoë', 'a', '漢字', '\n', 'ß', '😀')
  const marks = steps(fc.constant('')).map((all) =>
    all.filter((step) => step.do === 'format' || step.do === 'embed'),
  )
  fc.assert(
    fc.property(
      fc.array(word),
      marks,
      fc.nat(9),
      fc.nat(3),
      fc.array(fc.constantFrom('NEW', '新', '😁'), { minLength: 1 }),
      (source, marked, at, length, inserted) => {
        const author = authored([{ do: 'insert', at: 0, text: source.join(' '), attributes: {} }])
        if (!source.includes('😀')) for (const step of marked) take(author.getText(key), step)
        const server = loaded(author)
        const before = unitsOf(server).filter(({ value }) => value !== '')
        replaceText(server, source.toSpliced(at, length, ...inserted).join(' '))
        const ids = new Set(unitsOf(server).map(({ id }) => id))
        const lost = before.filter(({ id }) => !ids.has(id)).length
        expect(lost).toBeLessThanOrEqual(source.slice(at, at + length).join(' ').length + 1)
      },
    ),
    runs,
  )
})

test('[R9] deletes an embed only if it is inside one deletion or if the target is empty', () => {
  fc.assert(
    fc.property(steps(wellFormed), wellFormed, (made, target) => {
      const server = loaded(authored(made))
      const before = unitsOf(server)
      const { changed } = replaceText(server, target)
      const ids = new Set(unitsOf(server).map(({ id }) => id))
      if (changed && target === '') expect(ids.size).toBe(0)
      if (target === '') return
      before.forEach(({ id, value }, index) => {
        if (value !== '' || ids.has(id)) return
        const left = before.slice(0, index).findLast((unit) => unit.value !== '')
        const right = before.slice(index).find((unit) => unit.value !== '')
        expect(left !== undefined && !ids.has(left.id)).toBe(true)
        expect(right !== undefined && !ids.has(right.id)).toBe(true)
      })
    }),
    runs,
  )
})

test('[R10] splits no grapheme cluster of the old or the new text', () => {
  const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
  const starts = (text: string): Set<number> =>
    new Set([...segmenter.segment(text)].map(({ index }) => index).concat(text.length))
  fc.assert(
    fc.property(wellFormed, wellFormed, (source, target) => {
      const server = loaded(authored([{ do: 'insert', at: 0, text: source, attributes: {} }]))
      const before = new Set(unitsOf(server).map(({ id }) => id))
      const [sourceStarts, targetStarts] = [starts(source), starts(target)]
      replaceText(server, target)
      const after = unitsOf(server)
      const kept = new Set(after.map(({ id }) => id))
      const old = [...before].map((id) => kept.has(id))
      old.forEach((isKept, index) => {
        if (index > 0 && isKept !== old[index - 1]) expect(sourceStarts.has(index)).toBe(true)
      })
      after.forEach(({ id }, index) => {
        const previous = after[index - 1]
        if (previous !== undefined && before.has(id) !== before.has(previous.id))
          expect(targetStarts.has(index)).toBe(true)
      })
    }),
    runs,
  )
})

test('[R4] merges concurrent edits of a client, and all replicas converge', () => {
  fc.assert(
    fc.property(steps(basicPlane), steps(basicPlane), wellFormed, (made, meanwhile, target) => {
      const author = authored(made)
      const server = loaded(author)
      const client = loaded(author, 3)
      const ofServer = updatesOf(server, () => replaceText(server, target))
      const ofClient = updatesOf(client, () => {
        for (const step of meanwhile) take(client.getText(key), step)
      })
      for (const update of ofClient) Y.applyUpdate(server, update)
      for (const update of ofServer) Y.applyUpdate(client, update)
      expect(textOf(server)).toBe(textOf(client))
      expect(deltaIn(server)).toEqual(deltaIn(client))
    }),
    runs,
  )
})

test('[R4] keeps the undo stack of a client, and undo reverts only the edits of this client', () => {
  fc.assert(
    fc.property(wellFormed, fc.nat(40), (source, at) => {
      const server = loaded(authored([{ do: 'insert', at: 0, text: source, attributes: {} }]))
      const client = loaded(server, 3)
      const text = client.getText(key)
      const undo = new Y.UndoManager(text)
      text.insert(0, 'MINE ')
      Y.applyUpdate(server, Y.encodeStateAsUpdate(client))
      const target = `MINE ${source.slice(0, at).toWellFormed()}SERVER${source.slice(at).toWellFormed()}`
      for (const update of updatesOf(server, () => replaceText(server, target)))
        Y.applyUpdate(client, update, 'remote')
      expect(undo.undoStack.length).toBe(1)
      undo.undo()
      expect(text.toJSON()).toContain('SERVER')
      expect(text.toJSON().startsWith('MINE ')).toBe(false)
      expect(undo.redoStack.length).toBe(1)
    }),
    runs,
  )
})
