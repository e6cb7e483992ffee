import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/config/package-file.ts'

/** The bundles for browsers, with their maximum bytes with gzip. Packages that a page already has do not count. */
const bundles: readonly { readonly name: string; readonly source: string; readonly bytesMax: number }[] = [
  { name: 'weft-server/client', source: 'src/package/client.ts', bytesMax: 8_192 },
  { name: 'weft-server/provider', source: 'src/package/provider.ts', bytesMax: 8_192 },
  { name: 'client/weft-socket.js', source: 'src/client/weft-socket.ts', bytesMax: 3_072 },
]

it('[PKG-31] each bundle for browsers is at most as large as its limit', async () => {
  const rows = await Promise.all(
    bundles.map(async ({ name, source, bytesMax }) => {
      const { outputFiles } = await build({
        absWorkingDir: fileURLToPath(packageFile('.')),
        entryPoints: [source],
        bundle: true,
        write: false,
        platform: 'browser',
        format: 'esm',
        target: 'es2022',
        minify: true,
        packages: 'external',
      })
      const text = outputFiles[0]?.text ?? ''
      return { name, bytes: text.length, gzip: gzipSync(text, { level: 9 }).length, bytesMax }
    }),
  )
  console.table(rows)
  expect(rows.filter(({ gzip, bytesMax }) => gzip === 0 || gzip > bytesMax)).toEqual([])
})
