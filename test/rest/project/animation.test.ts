import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { animatedPng, chunksOf } from '../../screenshots/apng.ts'

const root = join(import.meta.dirname, '../../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** A picture of 2 × 1 pixels. */
function pictureOf(pixels: Buffer): Buffer {
  const head = Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  const chunk = (type: string, data: Buffer): Buffer => {
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    const body = Buffer.concat([Buffer.from(type), data])
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const signature = Buffer.from([0x89, ...Buffer.from('PNG\r\n'), 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

it('[GUIDE-15] the first picture of the README is an animation of at most 1 MB', () => {
  const [, alt = '', path = ''] = /!\[([^\]]*)\]\(([^)]+)\)/.exec(readme) ?? []
  expect(alt).toMatch(/two users/i)
  expect(readme.split('\n').findIndex((line) => line.includes(path))).toBeLessThan(10)
  const bytes = readFileSync(join(root, path))
  expect(bytes.length).toBeLessThanOrEqual(1_000_000)
  const chunks = chunksOf(bytes)
  const control = chunks.find(({ type }) => type === 'acTL')?.data
  expect(control?.readUInt32BE(0)).toBe(chunks.filter(({ type }) => type === 'fcTL').length)
  expect(control?.readUInt32BE(0)).toBeGreaterThan(20)
})

it('[GUIDE-15] the README has at most 700 words, with its samples', () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(700)
})

it('[GUIDE-15] numbers the frames of an animation and keeps their pixels', () => {
  const pixels = (value: number): Buffer => deflateSync(Buffer.from([0, ...Array<number>(6).fill(value)]))
  const frames = [0, 127, 255].map((value, index) => ({
    png: pictureOf(pixels(value)),
    x: 0,
    y: 0,
    ms: index,
  }))
  const chunks = chunksOf(animatedPng(frames))
  expect(chunks.map(({ type }) => type)).toEqual([
    'IHDR',
    'acTL',
    'fcTL',
    'IDAT',
    'fcTL',
    'fdAT',
    'fcTL',
    'fdAT',
    'IEND',
  ])
  const sequence = chunks.filter(({ type }) => /^f[cd]/.test(type)).map(({ data }) => data.readUInt32BE(0))
  expect(sequence).toEqual([0, 1, 2, 3, 4])
  expect(chunks.at(-2)?.data.subarray(4)).toEqual(pixels(255))
  expect(() => chunksOf(pictureOf(pixels(0)).fill(1, 20, 21))).toThrow('IHDR is damaged')
})
