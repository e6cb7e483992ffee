import { describe, expect, it } from 'vitest'
import {
  type EditDraft,
  type EditPlace,
  formatsFor,
  isEditable,
  newEditDraft,
  partsOfEdit,
  targetProblemOf,
  toEdit,
  withCandidate,
} from '../../../src/console/documents/content/edit-draft.ts'

const draft = (given: Partial<EditDraft>): EditDraft => ({ ...newEditDraft('text'), ...given })

describe('drafts of edits', () => {
  it('[CON-28] converts each action to an edit of the request', () => {
    const content = 'Hi'
    const format = 'text'
    const place = { before: 'a ', after: '.' }
    expect(toEdit(draft({ find: 'one', content }))).toEqual({
      replace: { find: { quote: 'one' }, with: content, format },
    })
    expect(toEdit(draft({ find: 'one', content, selected: place }))).toEqual({
      replace: { find: { quote: 'one', ...place }, with: content, format },
    })
    expect(toEdit(draft({ action: 'section', find: 'Risks', content, format: 'xml' }))).toEqual({
      insert: { into: { heading: 'Risks' }, content, format: 'xml' },
    })
    for (const action of ['start', 'end'] as const)
      expect(toEdit(draft({ action, find: 'unused', content }))).toEqual({
        insert: { at: action, content, format },
      })
  })

  it('[CON-28] offers formats of rich text only for rich text, and edits only texts with content', () => {
    expect(formatsFor('xml')).toEqual(expect.arrayContaining(['text', 'xml']))
    expect(formatsFor('text')).toContain('text')
    expect(formatsFor('text')).not.toContain('xml')
    expect(newEditDraft('text').format).toBe('text')
    expect(formatsFor('xml')).toContain(newEditDraft('xml').format)
    const types = ['text', 'xml', 'xmltext', 'map', 'array']
    expect(types.filter((type) => isEditable({ type, data: 'x' }))).toEqual(['text', 'xml', 'xmltext'])
    expect(types.filter((type) => isEditable({ type, data: '' }))).toEqual([])
  })

  it('[CON-28] reads suggested places from the details of an error, and from no other details', () => {
    const candidates = [{ quote: 'one' }]
    const problem = { edit: 2, candidates }
    expect(targetProblemOf({ ...problem, code: 'crdt/target-ambiguous' })).toEqual({
      ...problem,
      isAmbiguous: true,
    })
    expect(targetProblemOf({ ...problem, code: 'crdt/target-not-found' })?.isAmbiguous).toBe(false)
    for (const details of [null, undefined, {}, { edit: 1 }, { candidates }, 'text'])
      expect(targetProblemOf(details)).toBeNull()
  })

  it('[CON-28] uses a similar place as the target', () => {
    const candidates = [{ quote: 'On Monday', after: '.' }, { quote: 'On Mondays' }]
    const problem = { edit: 0, candidates, isAmbiguous: false }
    expect(withCandidate(draft({ find: 'on monday' }), problem, 0)).toEqual(
      draft({ find: 'On Monday', selected: { after: '.' } }),
    )
    const heading = draft({ action: 'section', find: 'risk' })
    expect(withCandidate(heading, problem, 1)).toEqual({ ...heading, find: 'On Mondays', selected: {} })
    // Equal places have no number, because the server suggests them in another order than that of the document.
    const equal = { ...problem, candidates: [{ quote: 'On Mondays' }, { quote: 'On Mondays' }] }
    expect(withCandidate(draft({ find: 'on monday' }), equal, 1).selected).toEqual({})
  })

  it('[CON-28] uses the context of an ambiguous place, and its number if several places have the same context', () => {
    const candidates = [{ quote: 'one', after: ' a' }, { quote: 'one' }, { quote: 'one' }]
    const problem = { edit: 0, candidates, isAmbiguous: true }
    const given = draft({ find: 'one' })
    expect(withCandidate(given, problem, 0).selected).toEqual({ after: ' a' })
    expect(withCandidate(given, problem, 2).selected).toEqual({ occurrence: 3 })
    expect(withCandidate(draft({ action: 'section', find: 'one' }), problem, 1).selected).toEqual({
      occurrence: 2,
    })
    // The context of the first place is also the context of the second one.
    const nested = [
      { quote: 'one', after: ' a' },
      { quote: 'one', before: 'x ', after: ' a b' },
    ]
    const again = { ...problem, candidates: nested }
    expect(withCandidate({ ...given, selected: { after: ' a' } }, again, 0).selected).toEqual({
      after: ' a',
      occurrence: 1,
    })
    expect(withCandidate(given, again, 1).selected).toEqual({ before: 'x ', after: ' a b' })
    // The server shortens the quote of a place.
    const long = draft({ find: 'one'.repeat(99) })
    expect(withCandidate(long, problem, 0).find).toBe(long.find)
  })

  it('[CON-28] compares the matched text with the new text', () => {
    const compared = (given: Partial<EditDraft>, place: EditPlace, changed = true) =>
      partsOfEdit(draft(given), { place, changed }).map(({ kind, text }) => `${kind} ${text}`)
    const place = { before: 'We ship on ', quote: 'monday', after: '.' }
    expect(compared({ find: 'monday', content: 'Monday' }, place)).toEqual([
      'same We ship on ',
      'removed monday',
      'added Monday',
      'same .',
    ])
    expect(compared({ find: 'monday', content: 'monday' }, place, false)).toEqual(['same We ship on monday.'])
    expect(compared({ find: 'monday' }, place)).not.toContain('added ')
    expect(compared({ find: 'x'.repeat(99) }, { quote: 'x'.repeat(80) })).toContain(
      `removed ${'x'.repeat(80)}…`,
    )
    const content = 'Few.'
    expect(compared({ action: 'section', find: 'Risks', content }, { quote: 'Risks' })).toEqual([
      'same Risks\n…\n',
      'added Few.',
    ])
    expect(compared({ action: 'start', content }, {})).toEqual(['added Few.', 'same \n…'])
    expect(compared({ action: 'end', content }, {})).toEqual(['same \n…\n', 'added Few.'])
  })
})
