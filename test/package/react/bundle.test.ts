import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { browserPackage } from '../../../src/build/bundles.ts'

const root = join(import.meta.dirname, '../../..')
const bytesMax = 4 * 1024

it('[REACT-9] has at most 4 KiB gzipped, is marked with `use client`, and shares the provider', async () => {
  const { outputFiles, metafile } = await build({
    ...browserPackage('dist/'),
    absWorkingDir: root,
    minify: true,
    sourcemap: false,
    write: false,
    metafile: true,
  })
  const outputOf = (name: string) => {
    const file = outputFiles?.find(({ path }) => path === join(root, `dist/package/${name}`))
    if (file === undefined) throw new Error(`no output ${name}`)
    return { ...file, text: file.text, imports: metafile?.outputs[`dist/package/${name}`]?.imports ?? [] }
  }
  const react = outputOf('react.js')
  const bytes = gzipSync(react.text, { level: 9 }).length
  console.log(`react: ${bytes} bytes gzipped of at most ${bytesMax}, without the provider`)
  expect(bytes).toBeLessThanOrEqual(bytesMax)
  expect(react.text).toMatch(/^["']use client["']/)
  const packages = react.imports.filter(({ external }) => external).map(({ path }) => path)
  expect([...new Set(packages)].toSorted()).toEqual(['./provider.js', 'react', 'yjs'])
  // The class is in one file, which both entry points import.
  const containing = outputFiles?.filter(({ text }) => text.includes('document-replaced')) ?? []
  expect(containing).toHaveLength(1)
  const inputs = Object.keys(metafile?.outputs['dist/package/react.js']?.inputs ?? {})
  expect(inputs.filter((path) => path.includes('client/provider'))).toEqual([])
  expect(outputOf('provider.js').text).not.toMatch(/use client|"react"/)
})
