import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Page, PageContent } from './page.ts'

/** Everything comes from this server, and what is not in a file does not run. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Weft: REST service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

/** Runs in the browser. Credentials stay in the page's memory, and no validator elsewhere sees the document. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  docExpansion: 'list',
  displayRequestDuration: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/** Swagger UI over `/openapi.json`, with which every operation can be tried. */
export const docsPages: readonly Page[] = [
  { path: '/docs', content: () => page('text/html', html) },
  { path: '/docs/start.js', content: () => page('text/javascript', startScript) },
  { path: '/docs/swagger-ui.css', content: () => file('text/css', 'swagger-ui.css') },
  { path: '/docs/swagger-ui-bundle.js', content: () => file('text/javascript', 'swagger-ui-bundle.js') },
]

const page = (type: string, text: string): PageContent => ({
  kind: 'text',
  type: `${type}; charset=utf-8`,
  text,
  contentSecurityPolicy,
})

/** Where the build puts the files of Swagger UI, and where they are when the sources are run. */
const places = ['./swagger-ui/', '../../node_modules/swagger-ui-dist/'] as const

async function file(type: string, name: string): Promise<PageContent> {
  const [built, source] = places.map((place) => new URL(place + name, import.meta.url)) as [URL, URL]
  return page(type, await readFile(existsSync(built) ? built : source, 'utf8'))
}
