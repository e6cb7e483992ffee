import { render } from 'preact'
import { App } from './app.tsx'

const place = document.getElementById('app')
// Until now it says what to do where this script never runs.
place?.replaceChildren()
if (place !== null) render(<App />, place)
