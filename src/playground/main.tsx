import { render } from 'preact'
import { PlaygroundApp } from './app.tsx'

const place = document.getElementById('app')
// The static content is help for browsers in which this script does not run.
place?.replaceChildren()
if (place !== null) render(<PlaygroundApp />, place)
// A link that is opened in a playground window changes only its address, so the page reloads to join again.
addEventListener('hashchange', () => location.reload())
