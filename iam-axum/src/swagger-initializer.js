// Starts Swagger UI. Replaces the file of the same name that Swagger UI brings along.
"use strict";

const SCHEME = "bearer";

// A login in the page authorizes the requests that follow it, and a logout ends that.
function followLogins(response) {
    const path = new URL(response.url, location.href).pathname;
    const token = response.ok && response.body && response.body.accessToken;
    if (token) {
        window.ui.preauthorizeApiKey(SCHEME, token);
    } else if (response.ok && path.endsWith("/auth/logout")) {
        window.ui.authActions.logout([SCHEME]);
    }
    return response;
}

// The page of Swagger UI does not say this, so a phone would show it as wide as a desktop.
function fitThePhone() {
    const viewport = document.createElement("meta");
    viewport.name = "viewport";
    viewport.content = "width=device-width, initial-scale=1";
    document.head.append(viewport);
}

window.addEventListener("load", () => {
    fitThePhone();
    window.ui = SwaggerUIBundle({
        url: "/openapi.json",
        dom_id: "#swagger-ui",
        deepLinking: true,
        displayRequestDuration: true,
        filter: true,
        persistAuthorization: true,
        responseInterceptor: followLogins,
        showExtensions: true,
        tryItOutEnabled: true,
        // By default the page sends the document's address to a validator on the web.
        validatorUrl: "none",
        presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
        layout: "StandaloneLayout",
    });
});
