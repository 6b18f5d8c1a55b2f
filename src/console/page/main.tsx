import './styles/index.css';
import { render } from 'preact';
import { ConsoleApp } from './app.tsx';
import { listenForShortcuts } from './shortcuts.ts';
import { keepConnected, keepTopics } from './state/connect.ts';

render(<ConsoleApp />, document.body);
listenForShortcuts();
keepTopics();
void keepConnected();
