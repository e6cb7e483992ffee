import { describe, expect, it } from 'vitest'
import {
  colorClass,
  colorOf,
  friendlyName,
  identityHash,
  listParticipants,
  parseIdentityHash,
} from '../../../src/console/playground/participant.ts'
import { rewriteCurl, rewriteEdit, welcome } from '../../../src/console/playground/playground-document.ts'

describe('the playground', () => {
  it('[CON-8] reads from the address of a window whether it names a user, requests another participant, or does neither', () => {
    const guest = { name: 'Calm Otter & co', token: 'a.b-c_d' }
    expect(parseIdentityHash(identityHash(guest))).toEqual({ kind: 'guest', participant: guest })
    expect(parseIdentityHash('#token=t')).toMatchObject({ kind: 'guest', participant: { token: 't' } })
    expect(parseIdentityHash('#another')).toEqual({ kind: 'another' })
    for (const hash of ['', '#', '#/documents', '#name=x'])
      expect(parseIdentityHash(hash)).toEqual({ kind: 'kept' })
    expect(friendlyName(() => 0)).toBe('Brave Badger')
    expect(friendlyName(() => 0.999)).toBe('Sunny Tapir')
  })

  it('[CON-9] lists the client of this window first, for any states of the other clients', () => {
    const states = new Map<number, Record<string, unknown>>([
      [7, { user: { name: 'Zoe' } }],
      [3, { user: { name: 'Mia' } }],
      [8, { user: { name: 42 } }],
      [9, {}],
    ])
    expect(listParticipants({ clientID: 7, states })).toEqual([
      { clientId: 7, name: 'Zoe', isSelf: true },
      { clientId: 3, name: 'Mia', isSelf: false },
      { clientId: 8, name: 'Somebody', isSelf: false },
      { clientId: 9, name: 'Somebody', isSelf: false },
    ])
    expect(colorClass(4_294_967_295)).toMatch(/^guest-[0-5]$/)
    expect(colorOf(4_294_967_295)).toMatch(/^#[0-9a-f]{6}$/)
  })

  it('[CON-10] the rewrite replaces the sentence of an earlier rewrite, or inserts a sentence at the start', () => {
    const sentence = 'Rewritten by REST at 12:00:00.'
    const inserted = { insert: { at: 'start', content: sentence } }
    expect(rewriteEdit(welcome, '12:00:00')).toEqual(inserted)
    expect(rewriteEdit('', '12:00:00')).toEqual(inserted)
    const earlier = 'Rewritten by REST at 1:2:3.'
    const replaced = { replace: { find: earlier, with: sentence, occurrence: 1 } }
    expect(rewriteEdit(`<paragraph>${earlier}</paragraph>${welcome}`, '12:00:00')).toEqual(replaced)
    const formatted = '<em>Rewritten by <strong>REST</strong></em> at 1:2:3.'
    expect(rewriteEdit(`<paragraph>x ${formatted}</paragraph>`, '12:00:00')).toEqual(replaced)
    const split = '<paragraph>Rewritten by REST</paragraph><paragraph> at 1:2:3.</paragraph>'
    expect(rewriteEdit(split, '12:00:00')).toEqual(inserted)
  })

  it('[CON-10] builds a curl call that a shell accepts', () => {
    const data = { organizationId: 'playground', edits: [{}] }
    const [, body = ''] = /-d '([^']*)'/.exec(rewriteCurl('http://localhost:8787', data)) ?? []
    expect(JSON.parse(body)).toEqual({ data })
  })
})
