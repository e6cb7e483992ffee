import { render } from 'preact'
import { PlaygroundApp } from './app.tsx'

const place = document.getElementById('app')
// Removes the static content, which is help for browsers in which this script does not run.
place?.replaceChildren()
if (place !== null) render(<PlaygroundApp />, place)
// If a user opens a link in a playground window, the browser changes only the address. The page therefore
// reloads in order to join again.
addEventListener('hashchange', () => location.reload())
