import { type Chapter, type ChapterGroup, chapterGroups, index, pathOf, readingOrder } from './chapters.ts'

interface PageLayout {
  readonly title: string
  /** The chapter that the navigation shows as the current chapter. */
  readonly chapter: Chapter
  /** Headings of the second level, for the list of contents. */
  readonly sections: readonly Section[]
  /** Content of the page as HTML. */
  readonly body: string
  /** Path of the page as Markdown, if it has one. */
  readonly markdown?: string
  /** Links to the previous and the next page. Default: the chapters before and after the chapter. */
  readonly neighbors?: AdjacentPages
}

export interface AdjacentPages {
  readonly before: PageLink | undefined
  readonly after: PageLink | undefined
}

interface PageLink {
  readonly path: string
  readonly title: string
}

export interface Section {
  /** Anchor of the heading. */
  readonly id: string
  /** Text of the heading, without markup. */
  readonly title: string
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (each) => entities[each] as string)

/** Returns the anchor of a heading. The anchor equals the one on GitHub, so that links also work there. */
export const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/**
 * Returns a page of the documentation as HTML. The script and the stylesheet of the page are from this
 * server, and the page is complete without the script.
 */
export function renderPage(layout: PageLayout): string {
  const { title, chapter, sections, body, markdown, neighbors = chaptersAround(chapter) } = layout
  const name = chapter === index ? 'Weft: documentation' : `${escapeHtml(title)} · Weft`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">${markdown === undefined ? '' : `\n<link rel="alternate" type="text/markdown" href="${markdown}">`}
<script type="module" src="/docs/script.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="name" href="/docs">Weft</a>
<form class="search" role="search">
<input type="search" role="combobox" aria-label="Search the documentation" aria-autocomplete="list" aria-expanded="false" aria-controls="docs-results" autocomplete="off" spellcheck="false" maxlength="200" placeholder="Search (press /)">
<div class="results" id="docs-results" role="listbox" aria-label="Results" hidden></div>
<p class="status unseen" role="status"></p>
</form>
<a class="to-chapters" href="#all-chapters">Chapters</a>
</header>
<div class="columns">
<main id="content" tabindex="-1">
${sections.length > 1 ? body.replace('</h1>\n', (title) => title + contents(sections)) : body}
${neighborLinks(neighbors)}</main>
<nav id="all-chapters" aria-label="Chapters">
${chapterGroups.map((group) => list(group, chapter)).join('')}</nav>
</div>
</body>
</html>
`
}

const list = ({ title, chapters: entries }: ChapterGroup, current: Chapter): string =>
  `<h2>${title}</h2>\n<ul>\n${entries.map((each) => `<li>${entry(each, each === current)}</li>\n`).join('')}</ul>\n`

const entry = (chapter: Chapter, isCurrent: boolean): string =>
  `<a href="${pathOf(chapter)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(chapter.title)}</a>`

const contents = (sections: readonly Section[]): string =>
  `<nav class="contents" aria-label="On this page">\n<ul>\n${sections
    .map(({ id, title }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>\n`)
    .join('')}</ul>\n</nav>\n`

function chaptersAround(chapter: Chapter): AdjacentPages {
  const place = readingOrder.indexOf(chapter)
  return { before: linkTo(readingOrder[place - 1]), after: linkTo(readingOrder[place + 1]) }
}

const linkTo = (page: Chapter | undefined): PageLink | undefined =>
  page && { path: pathOf(page), title: page.title }

/** Returns the links to the previous and the next page, if these pages exist. */
function neighborLinks({ before, after }: AdjacentPages): string {
  const links = [
    before === undefined ? '' : `<a rel="prev" href="${before.path}">← ${escapeHtml(before.title)}</a>`,
    after === undefined ? '' : `<a rel="next" href="${after.path}">${escapeHtml(after.title)} →</a>`,
  ]
  return `<nav class="neighbors" aria-label="Previous and next page">${links.join(' ')}</nav>\n`
}
