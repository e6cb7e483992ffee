import { expect, it } from 'vitest'
import { bytesOf, docKey, textOf } from './sample-data.ts'
import type { Bench } from './suite.ts'

export function busContract(bench: () => Bench): void {
  const bus = () => bench().engine.bus

  /** Resolves when all earlier messages have passed the bus, which the arrival of a later message shows. */
  const drained = () =>
    new Promise<void>((resolve) => {
      const end = bus().subscribe('echo', () => {
        end()
        resolve()
      })
      bus().publish('echo', bytesOf('through'))
    })

  it('[ENG-37] delivers each message asynchronously and in order to every subscriber of its topic', async () => {
    const heard: string[] = []
    bus().subscribe('t', (message) => void heard.push(`1 ${textOf(message)}`))
    bus().subscribe('t', (message) => void heard.push(`2 ${textOf(message)}`))
    bus().subscribe('other', (message) => void heard.push(`other ${textOf(message)}`))
    bus().publish('t', bytesOf('a'))
    bus().publish('t', bytesOf('b'))
    expect(heard).toEqual([])
    await drained()
    expect(heard.filter((each) => each.startsWith('1'))).toEqual(['1 a', '1 b'])
    expect(heard.filter((each) => each.startsWith('2'))).toEqual(['2 a', '2 b'])
    expect(heard).toHaveLength(4)
  })

  it('[ENG-37] after one subscription ends, delivers nothing to it, but still delivers to the other subscriptions', async () => {
    const heard: string[] = []
    const listener = (message: Uint8Array) => void heard.push(textOf(message) ?? '')
    const end = bus().subscribe('t', listener)
    const endOther = bus().subscribe('t', listener)
    end()
    end()
    bus().publish('t', bytesOf('a'))
    await drained()
    expect(heard).toEqual(['a'])
    endOther()
    bus().publish('t', bytesOf('b'))
    await drained()
    expect(heard).toEqual(['a'])
  })

  it('[ENG-39] lists this node, and assigns each document to a listed node', async () => {
    const { cluster } = bench().engine
    expect(cluster.nodes()).toContain(cluster.self)
    expect(cluster.nodes()).toContain(cluster.owner(docKey('a')).id)
    expect(await cluster.hold(docKey('a'))).toEqual(await cluster.hold(docKey('a')))
    const end = cluster.on('change', () => undefined)
    await cluster.drain(1_000)
    end()
  })
}
