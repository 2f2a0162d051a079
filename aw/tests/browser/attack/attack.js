// The script of a hostile page. `attack` makes attempts, each a technique at an endpoint, and returns what
// the script could read by each of them.

const moment = () => new Promise(done => setTimeout(done, 5));

/** The first of these events. */
const first = (target, ...events) =>
    new Promise(done => events.forEach(name => target.addEventListener(name, () => done(name), {once: true})));

/** Adds an element to the page and reads it when it has loaded or failed. */
const show = async (kind, set, look) => {
    const put = document.createElement(kind);
    const came = first(put, 'load', 'error');
    Object.assign(put, set);
    document.body.append(put);
    const seen = look(put, await came);
    put.remove();
    return seen;
};

const whole = frame => frame.contentDocument?.documentElement?.innerText;
const loaded = (_, came) => (came === 'load' ? 'it is loaded' : '');

/** The part of an answer that the browser shows to the script. */
const visible = async request => {
    const answer = await request;
    return answer.type.startsWith('opaque') ? '' : `${answer.status} ${await answer.text()}`;
};

const ask = given => ({url}) => visible(fetch(url, given));
const send = (kind, given = {}) => endpoint => {
    const body = kind.startsWith('multipart') ? parts(endpoint) : content(endpoint);
    const headers = kind.startsWith('multipart') ? {} : {'content-type': kind};
    return visible(fetch(endpoint.url, {method: 'POST', headers, body, ...given}));
};

const content = ({json, fields}) => json ?? new URLSearchParams(fields).toString();
const parts = ({json, fields}) => {
    const parts = new FormData();
    for (const [name, value] of fields ?? [['body', json]]) parts.append(name, value);
    return parts;
};

/** A request by XMLHttpRequest. */
const request = (method, kind, withCredentials) => endpoint =>
    new Promise(done => {
        const asked = new XMLHttpRequest();
        asked.onloadend = () => done(asked.status ? `${asked.status} ${asked.responseText}` : '');
        asked.open(method, endpoint.url);
        asked.withCredentials = withCredentials;
        if (kind) asked.setRequestHeader('content-type', kind);
        asked.send(kind ? content(endpoint) : null);
    });

/** Sends a form. As plain text it can contain JSON. */
const form = (method, enctype, target, {url, json, fields}) => {
    const form = document.createElement('form');
    Object.assign(form, {method, enctype, target, action: url});
    const asked = method === 'GET' ? [...new URL(url).searchParams] : fields;
    const plain = [[`${json?.slice(0, -1)},"and":"`, '"}']];
    for (const [name, value] of asked ?? plain) {
        form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value}));
    }
    document.body.append(form);
    HTMLFormElement.prototype.submit.call(form);
    form.remove();
};

const into_frame = (method, enctype) => async endpoint => {
    const frame = document.createElement('iframe');
    frame.name = `frame ${endpoint.attempt}`;
    document.body.append(frame);
    const came = first(frame, 'load');
    form(method, enctype, frame.name, endpoint);
    await came;
    const seen = whole(frame);
    frame.remove();
    return seen;
};

/** Reads another window, which is possible until it shows a page of another origin. */
const look_into = async opened => {
    for (;;) {
        await moment();
        if (opened.closed) return '';
        const {href} = opened.location;
        if (href !== 'about:blank' && opened.document.readyState === 'complete') {
            return opened.document.documentElement.innerText;
        }
    }
};
const in_window = go => async endpoint => {
    const opened = open('about:blank', `window ${endpoint.attempt}`);
    try {
        go(endpoint, opened);
        return await look_into(opened);
    } finally {
        opened.close();
    }
};

const socket = ({url, says}) =>
    new Promise(done => {
        const socket = new WebSocket(url.replace('http', 'ws'));
        const seen = [];
        socket.onopen = () => {
            seen.push('it is open');
            if (!says) socket.close();
            for (const message of says ?? []) socket.send(message);
        };
        socket.onmessage = ({data}) => {
            seen.push(data);
            if (seen.length > 2) socket.close();
        };
        socket.onclose = () => done(seen.join(' '));
    });

const events = ({url}) =>
    new Promise(done => {
        const source = new EventSource(url);
        const over = seen => {
            source.close();
            done(seen);
        };
        source.onopen = () => over('it is open');
        source.onerror = () => over('');
    });

const plain = 'text/plain';
const urlencoded = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';
const include = {credentials: 'include'};
const blind = {mode: 'no-cors'};

const techniques = {
    'fetch': ask({}),
    'fetch with cookies': ask(include),
    'fetch blindly': ask(blind),
    'fetch blindly with cookies': ask({...blind, ...include}),
    'fetch that outlives the page': ask({...blind, ...include, keepalive: true}),
    'fetch HEAD': ask({...blind, ...include, method: 'HEAD'}),
    'fetch OPTIONS': ask({method: 'OPTIONS'}),
    'fetch DELETE': ask({method: 'DELETE'}),
    'fetch DELETE with cookies': ask({method: 'DELETE', ...include}),
    'fetch PUT': ask({method: 'PUT', ...include}),
    'XMLHttpRequest': request('GET', null, false),
    'XMLHttpRequest with cookies': request('GET', null, true),
    'XMLHttpRequest DELETE': request('DELETE', null, true),
    'image': ({url: src}) => show('img', {src}, loaded),
    'script': ({url: src}) => show('script', {src}, loaded),
    'module': async ({url}) => JSON.stringify(await import(url)),
    'style': ({url: href}) =>
        show('link', {rel: 'stylesheet', href}, ({sheet}) => [...sheet.cssRules].map(rule => rule.cssText).join()),
    'prefetch': ({url: href}) => show('link', {rel: 'prefetch', href}, () => ''),
    'events': events,
    'socket': socket,
    'socket that says something': socket,
    'service worker': async ({url}) => (await navigator.serviceWorker.register(url)).scope,
    'frame': ({url: src}) => show('iframe', {src}, whole),
    'object': ({url: data}) => show('object', {data}, whole),
    'embed': ({url: src}) => show('embed', {src}, put => put.getSVGDocument()?.documentElement?.innerText),
    'form GET': into_frame('GET', urlencoded),
    'window': in_window(({url}, opened) => { opened.location = url; }),
    'form GET to a window': in_window((endpoint, opened) => form('GET', urlencoded, opened.name, endpoint)),

    'fetch JSON': send('application/json', include),
    'fetch PUT with JSON': send('application/json', {...include, method: 'PUT'}),
    'fetch plain text': send(plain),
    'fetch plain text blindly': send(plain, {...blind, ...include}),
    'fetch form blindly': send(urlencoded, {...blind, ...include}),
    'fetch form that outlives the page': send(urlencoded, {...blind, ...include, keepalive: true}),
    'fetch form parts blindly': send(multipart, {...blind, ...include}),
    'XMLHttpRequest JSON': request('POST', 'application/json', true),
    'XMLHttpRequest PUT': request('PUT', 'application/json', true),
    'XMLHttpRequest plain text': request('POST', plain, true),
    'XMLHttpRequest form': request('POST', urlencoded, true),
    'beacon': async endpoint => { navigator.sendBeacon(endpoint.url, content(endpoint)); },
    'beacon with a form': async endpoint => {
        navigator.sendBeacon(endpoint.url, new Blob([content(endpoint)], {type: urlencoded}));
    },
    'form': into_frame('POST', urlencoded),
    'form of plain text': into_frame('POST', plain),
    'form of parts': into_frame('POST', multipart),
    'form to a window': in_window((endpoint, opened) => form('POST', urlencoded, opened.name, endpoint)),
    'form of plain text to a window': in_window((endpoint, opened) => form('POST', plain, opened.name, endpoint)),
};

/** Makes attempts of one technique in parallel. Returns what was read by those that read something. */
const attack = async ({attempts, patience}) => {
    const seen = [];
    const hand = async () => {
        while (attempts.length > 0) {
            const endpoint = attempts.shift();
            const hangs = new Promise(done => setTimeout(done, patience, ''));
            try {
                const read = await Promise.race([techniques[endpoint.technique](endpoint), hangs]);
                if (read) seen.push([endpoint.attempt, read]);
            } catch {
                // The browser refused it.
            }
        }
    };
    const hands = attempts[0].technique.includes('window') ? 8 : 50;
    await Promise.all(Array.from({length: hands}, hand));
    return seen;
};
