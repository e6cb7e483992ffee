import { expect, it } from 'vitest'
import { ForwardingSigner, forwardingHeader } from '../../../../src/sync/nodes/forwarding-signature.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const secrets = ['a'.repeat(32), 'b'.repeat(32)] as const
const hop = { to: 'node-2', url: '/sync/acme/doc/main?token=t' }
const whose = { from: 'node-1', address: '2001:db8:0:1::/64' }

it('[CF-4] what a node seals is read by the node it is for, of that request, for a minute', () => {
  const clock = new HeldClock(1_000_000)
  const seal = new ForwardingSigner([secrets[0]], clock)
  const headers = { [forwardingHeader]: seal.seal(hop, whose) }
  expect(seal.read(headers, hop)).toEqual({ kind: 'hop', ...whose })
  expect(seal.read({}, hop)).toEqual({ kind: 'direct' })
  expect(seal.read(headers, { ...hop, to: 'node-3' })).toEqual({ kind: 'forged' })
  expect(seal.read(headers, { ...hop, url: '/sync/acme/other/main?token=t' })).toEqual({ kind: 'forged' })
  clock.advance(60_000)
  expect(seal.read(headers, hop)).toEqual({ kind: 'hop', ...whose })
  clock.advance(1)
  expect(seal.read(headers, hop)).toEqual({ kind: 'forged' })
})

it('[CF-4] no character of it can be changed', () => {
  const seal = new ForwardingSigner([secrets[0]], new HeldClock(1_000_000))
  const sealed = seal.seal(hop, whose)
  // The last character of a seal holds bits that stand for nothing.
  for (let at = 0; at < sealed.length - 1; at++) {
    const other = sealed[at] === '1' ? '2' : '1'
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
    expect(seal.read({ [forwardingHeader]: changed }, hop)).toEqual({ kind: 'forged' })
  }
  for (const wrong of ['', '1', `${sealed}0`, sealed.slice(1), '....'])
    expect(seal.read({ [forwardingHeader]: wrong }, hop)).toEqual({ kind: 'forged' })
})

it('[CF-4] while secrets are replaced nodes with the new one and with the old one as well understand each other', () => {
  const clock = new HeldClock(1_000_000)
  const [old, fresh] = [
    new ForwardingSigner([secrets[0], secrets[1]], clock),
    new ForwardingSigner([secrets[1], secrets[0]], clock),
  ]
  expect(fresh.read({ [forwardingHeader]: old.seal(hop, whose) }, hop)).toEqual({ kind: 'hop', ...whose })
  expect(old.read({ [forwardingHeader]: fresh.seal(hop, whose) }, hop)).toEqual({ kind: 'hop', ...whose })
  const alone = new ForwardingSigner([secrets[1]], clock)
  expect(alone.read({ [forwardingHeader]: old.seal(hop, whose) }, hop)).toEqual({ kind: 'forged' })
})

it('[CF-15] where a node is counts only as that node has sealed it', () => {
  const [seal, stranger] = secrets.map((secret) => new ForwardingSigner([secret], new HeldClock())) as [
    ForwardingSigner,
    ForwardingSigner,
  ]
  const url = 'http://10.0.0.5:8787'
  const sealed = seal.sealUrl('node-2', url)
  expect(seal.readUrl('node-2', sealed)?.origin).toBe(url)
  const lies = [
    url,
    `${url} ${'A'.repeat(43)}`,
    sealed.replace('5:', '6:'),
    stranger.sealUrl('node-2', url),
    '',
  ]
  for (const lie of lies) expect(seal.readUrl('node-2', lie)).toBeNull()
  expect(seal.readUrl('node-3', sealed)).toBeNull()
  for (const wrong of ['ftp://10.0.0.5', 'no url', 'http://[']) {
    expect(seal.readUrl('node-2', seal.sealUrl('node-2', wrong))).toBeNull()
  }
})
