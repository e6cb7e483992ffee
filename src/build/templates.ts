import { constants, copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TemplateName, templateNames } from '../cli/project-template.ts'
import { packageFile } from '../core/base/package-file.ts'

const pathOf = (path: string): string => fileURLToPath(packageFile(path))

const rootFiles = ['demo-sign-in.js', 'gitignore', 'PRODUCTION.md'] as const

/** Files of `src/templates/shared` in each template, by their folder in the template. */
const sharedFiles: Readonly<Record<TemplateName, Readonly<Record<string, readonly string[]>>>> = {
  'tiptap-express': {
    '.': [...rootFiles, 'index.html', 'server.js'],
    src: ['state.js', 'style.css', 'tiptap.css'],
  },
  'tiptap-next': { '.': rootFiles, app: ['state.jsx', 'style.css', 'tiptap.css'] },
  'codemirror-vite': { '.': [...rootFiles, 'index.html'], src: ['state.js', 'style.css'] },
  blocknote: { '.': [...rootFiles, 'server.js'], src: ['state.jsx', 'style.css'] },
}

/** Writes the templates of `weft init`: the files of each, and those that it shares with others. */
export function copyTemplates(folder: string): void {
  for (const name of templateNames) {
    const target = pathOf(`${folder}templates/${name}`)
    rmSync(target, { recursive: true, force: true })
    cpSync(pathOf(`src/templates/${name}`), target, { recursive: true })
    for (const [place, files] of Object.entries(sharedFiles[name]))
      for (const file of files) copyShared(file, `${target}/${place}/${file}`)
  }
}

/** @throws Error if the template has a file of its own with the path */
function copyShared(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(pathOf(`src/templates/shared/${file}`), to, constants.COPYFILE_EXCL)
}
